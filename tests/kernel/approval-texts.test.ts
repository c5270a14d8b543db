// What is told of a call that nobody approved: who can approve it, by the caller, the tool and its files.

import { expect, test } from 'vitest';
import { deniedHint, refusalText, unansweredText } from '../../src/kernel/approval.ts';
import type { ToolCaller } from '../../src/kernel/audit.ts';
import { defineTool, type Tool } from '../../src/kernel/tool.ts';
import { VALID } from '../contracts/tools.ts';

const preview = async () => ({ text: 'a change', place: 'a.lisp', fingerprint: 'v1' });
const named = (name: string, more: object = {}): Tool =>
  defineTool({ ...VALID, name, safetyLevel: 'dangerous', ...more });
const edit = named('edit', { preview });
const restart = named('restart');
const risky = named('risky', { approvedAs: 'digest' });
const renamed = named('test', { allowedAs: 'edit', preview });

const NOBODY =
  "needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server:";
const PAGE =
  'A person can approve it: run this command in a terminal, or watch the session in Emacs or in a browser (live-lisp page).';

/** Returns a question about TOOL and the files PLACES. */
function question(tool: Tool, places: string[] = [], caller: ToolCaller = 'client', requiredTools = [tool]) {
  const [place, ...otherPlaces] = places;
  return { tool, requiredTools, caller, otherPlaces, ...(place !== undefined && { place }) };
}

test.each([
  ['a tool without files', restart, [], '--allow restart'],
  ['a file', edit, ['src/a.lisp'], '--allow edit:src/a.lisp'],
  ['a file that a shell or a rule reads otherwise', edit, ['src/a b.lisp'], '--allow edit:GLOB'],
  ['a file that is not known', edit, [''], '--allow edit:GLOB'],
  ['several files', edit, ['a.lisp', 'b.lisp', 'a.lisp'], '--allow edit:a.lisp --allow edit:b.lisp'],
  ['more than three files', edit, ['a', 'b', 'c', 'd'], '--allow edit:GLOB'],
  ['a tool without a preview, for files', restart, ['a.lisp'], '--allow restart'],
  ['a call that is allowed as another tool', renamed, ['a.lisp'], '--allow edit:a.lisp'],
])('where nobody can be asked, about %s', (_, tool, places, rules) => {
  expect(refusalText(question(tool, places))).toBe(`Tool ${tool.name} is dangerous and ${NOBODY} ${rules}`);
});

test('where nobody can be asked, and two tools need an approval', () => {
  expect(refusalText(question(edit, ['a.lisp'], 'client', [edit, restart]))).toBe(
    `Tool edit is dangerous and ${NOBODY} --allow edit:a.lisp --allow restart`,
  );
});

test('where nobody can be asked, about a tool that an image has made', () => {
  expect(refusalText(question(risky))).toBe(
    "Tool risky is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --init FILE --allow risky, where FILE defines the tool.",
  );
});

test.each<[ToolCaller, string]>([
  [
    'code',
    "Tool edit is dangerous and needs a human's approval, which code cannot request. Nothing was done. Call edit directly, not from code, so that a human can be asked.",
  ],
  [
    'command',
    `Tool edit is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. ${PAGE}`,
  ],
])('where nobody can be asked, to %s', (caller, text) => {
  expect(refusalText(question(edit, ['a.lisp'], caller))).toBe(text);
});

test.each<[ToolCaller, boolean, string]>([
  [
    'client',
    false,
    'Nobody answered the question, so nothing was done. A person can allow it when they start the server: --allow edit:a.lisp',
  ],
  [
    'client',
    true,
    'Nobody answered in time, so nothing was done. A person can allow it when they start the server: --allow edit:a.lisp',
  ],
  ['command', false, `Nobody answered the question, so nothing was done. ${PAGE}`],
  ['command', true, `Nobody answered in time, so nothing was done. ${PAGE}`],
])('where nobody answered, to %s, late: %s', (caller, late, text) => {
  expect(unansweredText(question(edit, ['a.lisp'], caller), late)).toBe(
    `Tool edit is dangerous and needs a human's approval. ${text}`,
  );
});

test.each<[string, ToolCaller, { where?: string; words?: string }, string]>([
  [
    'a client',
    'client',
    {},
    'Nothing was done. If no person decided this, the client did by itself. A person can allow it when they start the server: --allow edit:a.lisp',
  ],
  ['a person with words', 'client', { words: 'Not now' }, 'Nothing was done. The user says: Not now'],
  [
    'a person in an editor',
    'client',
    { where: 'Emacs' },
    'Nothing was done. The user denied the call in Emacs.',
  ],
  [
    'a person in an editor with words',
    'client',
    { where: 'Emacs', words: 'Not now' },
    'Nothing was done. The user denied the call in Emacs. The user says: Not now',
  ],
  ['a person in a terminal', 'command', {}, 'Nothing was done.'],
])('a denial by %s', (_, caller, verdict, text) => {
  expect(deniedHint(question(edit, ['a.lisp'], caller), { kind: 'denied', ...verdict })).toBe(text);
});
