// C13: a page that begins behind the last row of its list reads the same in every tool.

import { beforeAll, expect, test } from 'vitest';
import { sharedLooks } from './looks.ts';

const session = sharedLooks();
beforeAll(async () => {
  await session.eval('(defgeneric anchor (x) (:method ((x integer)) x) (:method ((x string)) x))');
  await session.eval('(progn (defun moor (x) (anchor x)) (defun drop (x) (anchor x)))');
});

test.each([
  [
    'apropos_search',
    { pattern: 'mapca', package: 'CL', offset: 3 },
    "Found 2 symbols matching 'mapca':\n\nNote: there are 2 symbols, and none from offset 3 on.",
  ],
  [
    'who_calls',
    { name: 'anchor', offset: 2 },
    'Functions that call COMMON-LISP-USER::ANCHOR:\n\nNote: there are 2 callers, and none from offset 2 on.',
  ],
  [
    'function_arglist',
    { symbol: 'anchor', methods: true, offset: 2 },
    'Methods (2):\nNote: there are 2 methods, and none from offset 2 on.',
  ],
  [
    'class_hierarchy',
    { class: 'looks:shape', direction: 'down', offset: 99 },
    /\nSubclasses \(\d+, .*\):\n\nNote: there are \d+ lines, and none from offset 99 on\.$/,
  ],
  [
    'search_in_buffer',
    { pattern: 'with-unit', buffer: 'fixtures/looks.lisp', offset: 99 },
    /^Found (\d+) matches of 'with-unit' in fixtures\/looks\.lisp:\n\nNote: there are \1 matches, and none from offset 99 on\.$/,
  ],
  [
    'get_repl_history',
    { containing: '(defgeneric anchor', offset: 99 },
    /^(\d+) evaluations? in this workspace with ".*" in the input, newest first:\n\nNote: there (?:are \1 evaluations|is only one), and none from offset 99 on\.$/,
  ],
  [
    'get_audit_log',
    { tool: 'load_file', outcome: 'succeeded', offset: 9999 },
    /^(\d+) calls? in the audit log, newest first:\n\nNote: there (?:are \1 calls|is only one), and none from offset 9999 on\./,
  ],
] as const)(
  'C13 %s with %j tells how many rows there are, and that none follows',
  async (tool, args, text) => {
    const answer = await session.text(tool, args);
    if (typeof text === 'string') expect(answer.slice(-text.length)).toBe(text);
    else expect(answer).toMatch(text);
  },
);
