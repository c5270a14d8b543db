// Whatever comes from outside into a question: nothing in it can be taken for words of the question itself.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesLines, fileDiffOf, filesSummary, newFileDiff } from '../../src/files/diff.ts';
import { decode } from '../../src/files/text.ts';
import type { OpenQuestion } from '../../src/kernel/approval.ts';
import { argumentsPreview, renderPreview } from '../../src/kernel/shown.ts';
import type { Preview } from '../../src/kernel/tool.ts';
import { questionLine, quoted } from '../../src/question-line.ts';
import type { MessageSize } from '../../src/server/message-size.ts';
import { pagesOf } from '../../src/server/question-text.ts';
import { visibleLine } from '../../src/visible.ts';
import { anyText } from '../any-text.ts';
import { probe } from '../contracts/tools.ts';

/** Texts that somebody would choose to forge a line, to hide one, or to move what stands beside them. */
const PIECES = [
  '\n',
  '\r',
  '\u2028',
  '\u0085',
  '\u23ce',
  ' \u23ce ',
  '\u2026 ',
  'All of it: /tmp/evil.diff',
  'Approve nothing (safe)?',
  'File x.lisp, line 1, +1 \u22121:',
  '2 of 2 lines are shown. ',
  '+(evil)',
  '++ x.lisp',
  '@@ -1,1 +1,1 @@',
  '> form: (safe)',
  '| ',
  '"',
  '\\',
  ', in b.lisp',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u05e9\u05dc\u05d5\u05dd',
  '\u0627\u0644',
  'e\u0301\u0302\u0303\u0304',
  '\u{1f600}',
  '\u6f22\u5b57',
  '\t',
  ' '.repeat(90),
  'x'.repeat(300),
];

const HOSTILE = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), anyText({ maxLength: 20 })), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''));

const WIDE: MessageSize = { rows: 100_000, columns: 100_000 };
const SIZES: [string, MessageSize][] = [
  ['Claude Code', { rows: 4, columns: 74, joined: true }],
  ['Codex', { rows: 13, columns: 76 }],
  ['others', { rows: 100, columns: 76, sureRows: 13 }],
];
const FILE = { path: '/state/previews/12ab.diff', remove: () => {} };
const OWN_FILE = 'All of it: /state/previews/12ab.diff';

function question(preview: Preview): OpenQuestion {
  return {
    tool: probe().tool,
    args: {},
    preview: renderPreview(preview),
    allowsSession: true,
    recordRefusal: () => {},
    timeoutText: '',
  };
}

const text = (content: string) => decode(Buffer.from(content));

const asName = (outside: string) => questionLine`${outside}`.text;

/** Where a text from outside can stand in a question: what makes the preview that has it there, and how it is shown. */
const POSITIONS: [string, (outside: string) => Preview, (outside: string) => string][] = [
  [
    'the name of a file',
    (outside) => ({ ...newFileDiff(outside, text('(a)\n')), place: outside, fingerprint: '' }),
    asName,
  ],
  [
    'the names of several files',
    (outside) => {
      const names = [outside, `${outside}2`];
      const changes = names.map((name) => fileDiffOf(name, text('(a)\n'), text('(b)\n')));
      const [place = '', ...otherPlaces] = names;
      const lines = changesLines(changes, names);
      return { summary: filesSummary(changes), text: lines, lines, place, otherPlaces, fingerprint: '' };
    },
    asName,
  ],
  [
    'the new name of a symbol',
    (outside) => ({ summary: questionLine`1 file: rename a to ${outside}`, text: [], fingerprint: '' }),
    asName,
  ],
  [
    'the name of a variable',
    (outside) => ({ text: [questionLine`Variables that were set (1): ${[outside]}.`], fingerprint: '' }),
    asName,
  ],
  [
    'what a reader says',
    (outside) => ({
      text: [questionLine`Note: a:1 cannot be read yet: ${quoted(outside)}`],
      fingerprint: '',
    }),
    (outside) => quoted(outside).text,
  ],
  ['the name of an argument', (outside) => argumentsPreview({ [outside]: 'x' }, ''), asName],
  [
    'the summary that a program gives',
    (outside) => ({ summary: outside, text: [], fingerprint: '' }),
    asName,
  ],
];

/** Returns the lines of the question that has PREVIEW, none of them broken. */
function linesOf(preview: Preview): string[] {
  return (pagesOf(question(preview), FILE, WIDE).pages[0] ?? '').split('\n');
}

test.each(POSITIONS)('%s changes no word of the question but itself', (_, made, shownAs) => {
  const harmless = linesOf(made('NAME'));
  fc.assert(
    fc.property(HOSTILE, (outside) => {
      const expected = harmless.map((line) =>
        line.replaceAll(/NAME(2?)/g, (_all, more) => shownAs(outside + more)),
      );
      expect(linesOf(made(outside))).toEqual(expected);
    }),
  );
});

test('a name is one bounded piece without a blank, or in quotes, in which nothing is hidden', () => {
  fc.assert(
    fc.property(HOSTILE, (outside) => {
      const shownName = questionLine`${outside}`.text;
      const plain = shownName.replaceAll('\u2066', '').replaceAll('\u2069', '');
      expect(/^[^\s,;?"]*$/.test(plain) || typeof JSON.parse(plain) === 'string').toBe(true);
      expect(visibleLine(plain)).toBe(plain);
      expect(plain.length).toBeLessThanOrEqual(200);
    }),
  );
});

/** Words that are written from right to left, outside of isolates. */
const BARE =
  /(?<!\u2066[^\u2069]*)[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** How a row of a question can begin. */
const BEGINNING =
  /^(?:Approve probe|\d+ of \d+ lines are shown|Lines? \d|File\b|Variables |Note: |It |All of it: |\u2026|[-+>|@])/;

describe.each(SIZES)('in the room of %s', (client, size) => {
  test('no text from outside begins a row, and none reorders or stacks up', () => {
    fc.assert(
      fc.property(fc.constantFrom(...POSITIONS), HOSTILE, ([, made], outside) => {
        const { pages } = pagesOf(question(made(outside)), FILE, size);
        for (const row of pages.flatMap((page) => page.split('\n'))) {
          expect(row).toMatch(BEGINNING);
          expect(row).not.toMatch(BARE);
          expect(row).not.toMatch(/\p{M}{3}/u);
          if (client === 'Claude Code') expect(row).not.toMatch(/[\u2066\u2069]/);
        }
      }),
    );
  });

  test('the lines of a file stand each behind a mark, and how many are shown is true', () => {
    fc.assert(
      fc.property(fc.array(HOSTILE, { maxLength: 30 }), (contents) => {
        const change = newFileDiff('a.lisp', text(contents.join('\n')));
        const { pages, whole } = pagesOf(
          question({ ...change, place: 'a.lisp', fingerprint: '' }),
          FILE,
          size,
        );
        const [first = ''] = pages;
        const reported = /^(\d+) of (\d+) lines are shown\. /.exec(first);
        expect(reported === null || Number(reported[2]) === change.lines.length).toBe(true);
        expect(reported === null).toBe(whole && pages.length === 1);
        const all = pages.join('\n').replaceAll(' \u23ce ', '\n').replaceAll('\n\u2026 ', '');
        const marked = all.split('\n').filter((line) => line.startsWith('+') && !line.endsWith(' [...]'));
        const count = change.lines.filter((line) => line.text.startsWith('+')).length;
        if (whole) expect(marked).toHaveLength(count);
        else if (reported !== null) expect(marked.length).toBeLessThanOrEqual(Number(reported[1]));
        if (reported !== null) expect(first).toContain(OWN_FILE);
      }),
    );
  });
});
