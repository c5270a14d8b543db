import { describe, expect, test } from 'vitest';
import { imbalanceOf } from '../../src/source/balance.ts';
import { libraries } from '../libraries.ts';
import { LONG } from '../long.ts';
import { SEED } from '../seed.ts';
import { linesNamed, sourcesOf, sum } from './faults.ts';

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

  test('are not told of where a comment does not end', () => {
    const wrong = { kind: 'comment', began: 7, line: 7 };
    expect(imbalanceOf(replaced('(defun two', '#| (defun two'))).toEqual(wrong);
    expect(imbalanceOf(replaced('(defun two', '"a\n(b)" #| #| |# (defun two'))).toMatchObject({ began: 8 });
  });

  test('are wrong when as many close nothing as are not closed', () => {
    expect(imbalanceOf(') (')).toEqual({ kind: 'closed', began: 1, line: 1 });
    expect(imbalanceOf(`(a)) (b\n${TWO}`)).toEqual({ kind: 'closed', began: 1, line: 1 });
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

test('a parenthesis that was removed or added in a library is in the line that is named, 9 of 10 times', () => {
  const texts = libraries('alexandria', 'cl-ppcre', 'hunchentoot').flatMap(sourcesOf);
  const seed = LONG ? Date.now() % 100_000 : SEED;
  const found = linesNamed(texts, 500, seed);
  expect(sum(found.map(({ right }) => right)), `seed ${seed}`).toBeGreaterThanOrEqual(0.9 * 500);
});
