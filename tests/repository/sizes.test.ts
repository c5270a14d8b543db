// Files and functions stay short enough to be read at once.

import { expect, test } from 'vitest';
import { filesOf, textOf } from './files.ts';
import { topLevelForms } from './lisp.ts';

const FILE_LIMIT = 300;
const FUNCTION_LIMIT = 40;

const SOURCES = filesOf('src', '.ts');
const LISP = filesOf('lisp', '.lisp');

function indentation(line: string): number {
  return line.search(/\S/);
}

/** Returns the first line and the length of every block in TEXT with a parameter list or an arrow, as Biome's
 *  indentation shows them. Such a block ends before a line that is indented as its first, or less, and does not begin
 *  with a closing bracket. */
function blocks(text: string): { line: number; length: number }[] {
  const lines = text.split('\n');
  return lines.flatMap((head, start) => {
    if (!/\(|=>/.test(head) || /^\s*(?:\/\/|\*|\/\*)/.test(head)) return [];
    const after = lines.findIndex((line, index) => {
      const outside = line.trim() !== '' && indentation(line) <= indentation(head);
      return index > start && outside && !/^\s*[)\]}]/.test(line);
    });
    const body = lines.slice(start, after === -1 ? lines.length : after);
    return [{ line: start + 1, length: body.join('\n').trimEnd().split('\n').length }];
  });
}

test(`no source or test file has more than ${FILE_LIMIT} lines`, () => {
  const long = [...SOURCES, ...LISP, ...filesOf('tests', '.ts')]
    .map((path) => ({ path, length: textOf(path).trimEnd().split('\n').length }))
    .filter(({ length }) => length > FILE_LIMIT);
  expect(long).toEqual([]);
});

test(`no function in src/ has more than ${FUNCTION_LIMIT} lines`, () => {
  const long = SOURCES.flatMap((path) =>
    blocks(textOf(path))
      .filter(({ length }) => length > FUNCTION_LIMIT)
      .map((block) => ({ path, ...block })),
  );
  expect(long).toEqual([]);
});

test(`no top-level form in lisp/ has more than ${FUNCTION_LIMIT} lines`, () => {
  const long = LISP.flatMap((path) =>
    topLevelForms(textOf(path))
      .map(({ line, text }) => ({ path, line, length: text.split('\n').length }))
      .filter(({ length }) => length > FUNCTION_LIMIT),
  );
  expect(long).toEqual([]);
});

test('the measure sees a long function, wherever it stands', () => {
  const long = Array.from({ length: 50 }, (_, index) => `    call(${index});`);
  const wrapped = (head: string, foot: string) => [head, ...long, foot, 'const after = 1;'].join('\n');
  for (const [head, foot] of [
    ['function f(x: number): void {', '}'],
    ['export async function f(\n  x: number,\n): Promise<void> {', '}'],
    ['  method(): void {', '  }'],
    ['const f = (x: number) => {', '};'],
    ['const f = map((x) =>', ');'],
  ] as const) {
    expect(Math.max(...blocks(wrapped(head, foot)).map(({ length }) => length))).toBeGreaterThan(50);
  }
});
