import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { imbalanceOf } from '../../src/source/balance.ts';
import { nextToken } from '../../src/source/lexer.ts';

const TWO = `(in-package :cl-user)

(defun one (x)
  (let ((y (+ x 1)))
    (* y 2)))

(defun two (x)
  (one x))
`;

function replaced(from: string, to: string): string {
  expect(TWO).toContain(from);
  return TWO.replace(from, to);
}

describe('the parentheses of a text', () => {
  test('are right', () => {
    expect(imbalanceOf(TWO)).toBeUndefined();
    expect(imbalanceOf('')).toBeUndefined();
    expect(imbalanceOf('#\\( "(" |(| ; (\n#| ( |# #+(or) (foo)')).toBeUndefined();
  });

  test.each([
    ['one too few', '(+ x 1)))', '(+ x 1))', { kind: 'open', began: 3, line: 4, swallowed: 7 }],
    ['two too few at the end', '(* y 2)))', '(* y 2)', { kind: 'open', began: 3, line: 5, swallowed: 7 }],
    ['one too many', '(+ x 1)))', '(+ x 1))))', { kind: 'closed', began: 3, line: 4 }],
    ['a list that lacks its beginning', '(let', 'let', { kind: 'closed', began: 3, line: 4 }],
    ['a list that begins twice', '(* y', '((* y', { kind: 'open', began: 3, line: 5, swallowed: 7 }],
    ['one too few in the last form', '(one x))\n', '(one x)\n', { kind: 'open', began: 7, line: 8 }],
  ])('are %s', (_, from, to, wrong) => {
    expect(imbalanceOf(replaced(from, to))).toMatchObject(wrong);
  });

  test('are not told of where a string does not end', () => {
    const wrong = { kind: 'string', began: 4, line: 4 };
    expect(imbalanceOf(replaced('(let', '"(let'))).toEqual(wrong);
    expect(imbalanceOf(`${replaced('(let', '"(let')}\n(three "a" "b")\n`)).toEqual(wrong);
  });

  test('are put right by the repair', () => {
    for (const [from, to] of [
      ['(+ x 1)))', '(+ x 1))'],
      ['(+ x 1)))', '(+ x 1))))'],
      ['(let', 'let'],
    ] as const) {
      const broken = replaced(from, to);
      const { index, removed, text } = imbalanceOf(broken)?.repair ?? { index: 0, removed: 0, text: '' };
      expect(broken.slice(0, index) + text + broken.slice(index + removed)).toBe(TWO);
    }
  });

  test('are found by work that is bounded, in a form of 40,000 lines', () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `    (foo ${index})`);
    const text = `(defun large ()\n  (list\n${lines.join('\n')}))`;
    expect(imbalanceOf(`${text})`)).toMatchObject({ kind: 'closed', began: 1 });
  });
});

const LIBRARIES = '/usr/share/common-lisp/source';

/** Returns the texts of the Lisp files of the library NAME. */
function sourcesOf(name: string): string[] {
  return readdirSync(join(LIBRARIES, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lisp'))
    .map((file) => readFileSync(join(LIBRARIES, name, file), 'utf8'))
    .filter((text) => imbalanceOf(text) === undefined);
}

/** Returns a function that gives numbers below 1, the same ones for SEED. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('a parenthesis that was removed or added in a library is in the line that is named, 9 of 10 times', () => {
  const next = random(Date.now() % 100_000);
  const choose = <Item>(items: Item[]) => items[Math.floor(next() * items.length)] as Item;
  const texts = ['alexandria', 'cl-ppcre', 'hunchentoot'].flatMap(sourcesOf);
  let right = 0;
  const count = 500;
  for (let done = 0; done < count; done++) {
    const text = choose(texts);
    const sign = choose(['(', ')']);
    const removes = next() < 0.5;
    const places: number[] = [];
    for (let at = 0; ; ) {
      const { kind, start, end } = nextToken(text, at, false);
      if (kind === 'end') break;
      if (!removes || kind === sign) places.push(sign === '(' ? start : end);
      at = end;
    }
    const at = choose(places);
    const from = removes && sign === ')' ? at - 1 : at;
    const broken = text.slice(0, from) + (removes ? '' : sign) + text.slice(removes ? from + 1 : from);
    if (imbalanceOf(broken)?.line === text.slice(0, from).split('\n').length) right++;
  }
  expect(right).toBeGreaterThanOrEqual(0.9 * count);
});
