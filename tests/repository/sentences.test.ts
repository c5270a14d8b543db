// One sentence, one idea: what people and models read is in sentences that can be read at once.

import { expect, test } from 'vitest';
import { FILES, textOf } from './files.ts';
import {
  commentSentences,
  lispSentences,
  markdownSentences,
  type Sentence,
  stringSentences,
} from './sentences.ts';
import { piecesOf } from './typescript.ts';

const WORDS = 25;

/** Returns the sentences of TEXT, the file at PATH, that somebody is to read: prose, comments, docstrings, answers. What
 *  tests and measurements hold in strings are data. */
function sentencesOf(path: string, text: string): Sentence[] {
  if (path.endsWith('.md')) return markdownSentences(text);
  if (path.endsWith('.lisp')) return lispSentences(text);
  if (!/\.(?:ts|mjs)$/.test(path)) return [];
  return [...commentSentences(text), ...(path.startsWith('src/') ? stringSentences(text) : [])];
}

/** Returns the sentences of TEXT, the file at PATH, that have too many words, as lines for a message. */
function longIn(path: string, text: string): string[] {
  return sentencesOf(path, text)
    .filter(({ words }) => words > WORDS)
    .map(({ line, words, text: sentence }) => `${path}:${line}: ${words} words: ${sentence}`);
}

test(`no sentence has more than ${WORDS} words`, () => {
  expect(FILES.flatMap((path) => longIn(path, textOf(path)))).toEqual([]);
});

test('the measure sees a long sentence wherever it can stand, and none of the right length', () => {
  const sentence = (count: number) => `Word${' word'.repeat(count - 1)}.`;
  const places: [path: string, around: (text: string) => string][] = [
    ['docs/page.md', (text) => `# Head\n\n${text}\n`],
    ['src/file.ts', (text) => `// ${text}\nexport const x = 1;\n`],
    ['src/file.ts', (text) => `const text = '${text}';\n`],
    ['scripts/file.mjs', (text) => `/** ${text} */\n`],
    ['lisp/file.lisp', (text) => `(defun f () "${text}" 1)\n`],
  ];
  for (const [path, around] of places) {
    expect(longIn(path, around(sentence(WORDS)))).toEqual([]);
    expect(longIn(path, around(sentence(WORDS + 1)))).toHaveLength(1);
  }
  expect(longIn('tests/a.test.ts', `const data = '${sentence(WORDS + 1)}';`)).toEqual([]);
});

/** Returns the lines of a program, in which @{ stands for the begin of a value in a template. */
function program(...lines: string[]): string {
  return lines.join('\n').replaceAll('@{', '$' + '{');
}

/** Returns what the sentences are that MEASURE finds in TEXT, with their lines and words. */
function found(measure: typeof markdownSentences, text: string): [number, number, string][] {
  return measure(text).map(({ line, words, text: sentence }) => [line, words, sentence]);
}

test('prose: paragraphs, items, cells and headings end a sentence, a wrapped line does not', () => {
  const text = [
    '# A head',
    '',
    'One `code (with. dots)` and [a link](https://example.org/a.b), e.g. this,',
    'goes on. Another one: `a`, `b` and `c`!',
    '<!-- Not. Shown. -->',
    '',
    '- An item',
    '  goes on',
    '- 2 other',
    '```text',
    'Code. Is none.',
    '```',
    '| a cell | Is one. Then `x`. |',
    '|---|---|',
  ].join('\n');
  expect(found(markdownSentences, text)).toEqual([
    [1, 2, 'A head'],
    [3, 9, 'One X and a link, e.g. this, goes on.'],
    [3, 3, 'Another one: X!'],
    [7, 4, 'An item goes on'],
    [9, 2, '2 other'],
    [13, 2, 'Is one.'],
    [13, 2, 'Then X.'],
  ]);
});

test('comments: those that follow each other are one, and what describes a property is its own', () => {
  const text = [
    '// One',
    "// goes on. Two's there.",
    "const a = 'No. Comment.'; // Three.",
    '/** Four (f("x.y")) and',
    ' *  more. */',
    'const pattern = /[/"`]\\/\\*/g; // Five.',
    '/**',
    ' * Six.',
    ' * @property {string} seven it is',
    ' */',
  ].join('\n');
  expect(found(commentSentences, text)).toEqual([
    [1, 3, 'One goes on.'],
    [1, 2, "Two's there."],
    [3, 1, 'Three.'],
    [4, 4, 'Four (f("x.y")) and more.'],
    [6, 1, 'Five.'],
    [7, 1, 'Six.'],
    [7, 5, '@property {string} seven it is'],
  ]);
});

test('strings: what ends as a sentence is one, over added strings and with values as words', () => {
  const text = program(
    "const a = 'Says ' + \"what's\" +",
    '  ` wrong @{name(`in: @{x}`)}. Do @{y}!`;',
    "const b = ['some words, no sentence', 'One\\nline. Other.'];",
    "const c = yes ? /'/.test(d) : `A @{f({ g: 'Within it.' })} is.`; // 'None.'",
  );
  expect(found(stringSentences, text).map(([, words, sentence]) => [words, sentence])).toEqual([
    [4, "Says what's wrong X."],
    [2, 'Do X!'],
    [1, 'line.'],
    [1, 'Other.'],
    [2, 'Within it.'],
    [3, 'A X is.'],
  ]);
});

test('Lisp: docstrings and texts, with comments that follow each other as one', () => {
  const text = [
    ';;; Decides',
    ';;; this. And that.',
    '(defun f (x) ; "none."',
    '  "Return X,',
    'the \\"Y\\". See Z."',
    '  (list #\\" \'|a. B.| "name" (format nil "One ~a.~%Two',
    '~',
    '  three." x)))',
  ].join('\n');
  expect(found(lispSentences, text)).toEqual([
    [1, 2, 'Decides this.'],
    [1, 2, 'And that.'],
    [3, 1, '"none."'],
    [4, 4, 'Return X, the \\"Y\\".'],
    [4, 2, 'See Z.'],
    [6, 2, 'One ~a.'],
    [6, 2, 'Two three.'],
  ]);
});

test('the reader of TypeScript tells strings, templates, comments and regular expressions apart', () => {
  const text = program(
    "f(`a @{b ? `c @{'d'}` : /}`/} e`); // g",
    "const h = 1 / 2; i('/* j */');",
    '/* k */',
  );
  expect(piecesOf(text).map(({ line, kind, text: piece }) => [line, kind, piece])).toEqual([
    [1, 'string', 'd'],
    [1, 'string', 'c X'],
    [1, 'string', 'a X e'],
    [1, 'comment', '// g'],
    [2, 'string', '/* j */'],
    [3, 'comment', '/* k */'],
  ]);
});
