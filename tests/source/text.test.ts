/** Holds SourceText against the plain way to count, on texts of every width, line end and encoding. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SourceText } from '../../src/source/text.ts';
import { cases } from '../long.ts';

const PIECES = ['a', '(', ' ', '\t', '\n', '\r\n', '\r', 'é', 'λ', '語', '😀', '\ufeff', '\u2028', '\0'];
const TEXT = fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 80 });

/** Gives the position at INDEX of TEXT as a walk through it finds it. */
function walked(text: string, index: number) {
  const before = text.slice(0, index).split('\n');
  const column = Array.from(before.at(-1) ?? '').length + 1;
  return { line: before.length, column, text: (text.split('\n')[before.length - 1] ?? '').trim() };
}

/** Gives the indices where characters begin, and the end. */
function indices(text: string): number[] {
  let index = 0;
  return [0, ...Array.from(text, (char) => (index += char.length))];
}

it('finds every character by its octet in UTF-8', () => {
  const check = (text: string) => {
    const source = new SourceText(text);
    for (const index of indices(text))
      expect(source.indexOfOctet(Buffer.byteLength(text.slice(0, index)))).toBe(index);
    expect(source.indexOfOctet(Buffer.byteLength(text) + 5)).toBe(text.length);
  };
  fc.assert(fc.property(TEXT, check), cases(300));
});

it('takes an octet within a character for the next one', () => {
  const source = new SourceText('\n😀λx');
  const found = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((octet) => source.indexOfOctet(octet));
  expect(found).toEqual([0, 1, 3, 3, 3, 3, 4, 4, 5]);
});

it('takes octets of Latin-1 for characters', () => {
  const source = new SourceText('é\nüé (a)', 'Latin-1');
  expect([0, 1, 2, 5, 8, 9].map((octet) => source.indexOfOctet(octet))).toEqual([0, 1, 2, 5, 8, 8]);
});

it('gives the line and column of every character', () => {
  const check = (text: string) => {
    const source = new SourceText(text);
    for (const index of indices(text)) expect(source.positionAt(index)).toEqual(walked(text, index));
  };
  fc.assert(fc.property(TEXT, check), cases(300));
});
