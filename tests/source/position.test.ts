/** Holds where top-level forms begin against SBCL's own reader, and against text that is no Lisp at all. */

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { anyText } from '../any-text.ts';
import { libraries } from '../libraries.ts';
import { cases, LONG, PATIENCE_MS } from '../long.ts';
import { askSbcl, type Report } from './oracle.ts';

const HERE = import.meta.dirname;
const SBCL = new Set(['SBCL']);

// SBCL's reader, like the tests, counts characters (code points), whereas an index counts UTF-16 units.

function indexOfOffset(source: string, offset: number): number {
  let index = 0;
  for (let left = offset; left >= 1 && index < source.length; left--)
    index += (source.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  return index;
}

/** Returns the index at which each character of SOURCE begins. */
function indicesOf(source: string): number[] {
  let index = 0;
  return Array.from(source, (char) => {
    index += char.length;
    return index - char.length;
  });
}

function positionAt(source: string, offset: number) {
  return new SourceText(source).positionAt(indexOfOffset(source, offset));
}

function positionOfForm(source: string, offset: number, features: Set<string>) {
  const text = new SourceText(source);
  const start = new TopLevelForms(text, features).formFrom(indexOfOffset(source, offset))?.start;
  return start === undefined ? undefined : text.positionAt(start);
}

function offsetOfTopLevelForm(source: string, index: number, features: Set<string>): number | undefined {
  const start = new TopLevelForms(new SourceText(source), features).nthExtent(index)?.start;
  return start === undefined ? undefined : Array.from(source.slice(0, start)).length;
}

/** Counts the lists at top level of which both say where they begin. */
function compare(reports: Report[]): number {
  let agreed = 0;
  for (const { source, features, lines } of reports) {
    const forms = new TopLevelForms(new SourceText(source), features);
    const indices = indicesOf(source);
    const indexOf = (offset: number) => indices[offset] ?? source.length;
    for (const [index, [offset = 0, start = Number.NaN]] of lines.entries()) {
      if (Number.isNaN(start)) continue;
      expect(forms.formFrom(indexOf(offset))?.start).toBe(indexOf(start));
      expect(forms.nthExtent(index)?.start).toBe(indexOf(start));
      agreed++;
    }
  }
  return agreed;
}

function expectSane(source: string, offset: number, number: number) {
  const index = offsetOfTopLevelForm(source, number, SBCL) ?? 0;
  for (const place of [positionOfForm(source, offset, SBCL), positionAt(source, index)]) {
    const line = source.split('\n')[(place?.line ?? 0) - 1] ?? '';
    // Of a long line it is the part around the place.
    if (line.length <= 1000) expect(place?.text ?? '').toBe(line.trim());
    else expect(line.includes(place?.text ?? '')).toBe(true);
    expect(place?.column ?? 0).toBeLessThanOrEqual(Array.from(line).length + 1);
  }
}

describe('a top-level form, held against SBCL', { timeout: 600_000 }, () => {
  it('begins where SBCL begins it in a file of every construct', () => {
    expect(compare(askSbcl(`report-file "${join(HERE, 'nasty.lisp')}"`))).toBeGreaterThan(50);
  });

  it('begins where SBCL begins it in a library', () => {
    const [system = ''] = libraries('cl-ppcre');
    expect(compare(askSbcl(`report-system "${system}"`))).toBeGreaterThan(200);
  });
});

describe('the place of a top-level form', () => {
  const at = (line: number, column: number, text: string) => ({ line, column, text });

  it('is behind white space, comments and removed forms', () => {
    const source = ';;; 😀 (a)\n #| (b) |# #-sbcl (c)\r\n\t#+sbcl (d (e))  \n';
    for (const offset of [0, 9])
      expect(positionOfForm(source, offset, SBCL)).toEqual(at(3, 9, '#+sbcl (d (e))'));
  });

  it('is that of a form that is no list', () => {
    expect(positionOfForm('😀 #.(list (a))', 1, SBCL)).toEqual(at(1, 3, '😀 #.(list (a))'));
  });

  it('is known when the form is cut off', () => {
    for (const source of ['\n(a (b)\n)', '\n(a (b)\n'])
      expect(positionOfForm(source, 0, SBCL)).toEqual(at(2, 1, '(a (b)'));
  });

  it('is not known when there is no form', () => {
    for (const source of ['', ' ; (a)', '#| (a)', '#-sbcl (a)', '#+sbcl', ') (a)', '#-sbcl (a'])
      expect(positionOfForm(source, 0, SBCL) ?? offsetOfTopLevelForm(source, 0, SBCL)).toBeUndefined();
    for (const offset of [3, 99, Infinity]) expect(positionOfForm('(a)', offset, SBCL)).toBeUndefined();
    expect(offsetOfTopLevelForm('(a) b', 2, SBCL)).toBeUndefined();
  });
});

describe('the place of a top-level form, in any text', { timeout: PATIENCE_MS }, () => {
  it('gives a place inside the text for random text', () => {
    const pieces =
      "( ) ' ` , ,@ #+ #- #1= #1# #2= #2# #( #. #' #\\ #S #? \" | \\ ; #| |# . quote or sbcl x:: 😀 \ud83d";
    const lispy = fc.string({ unit: fc.constantFrom(' ', '\n', ...pieces.split(' ')), maxLength: 60 });
    const text = fc.oneof(anyText(), lispy);
    fc.assert(fc.property(text, fc.integer(), fc.nat(20), expectSane), cases(1000));
    fc.assert(fc.property(text, fc.nat(40), fc.nat(20), expectSane), cases(1000));
  });

  it('survives text nested deeper than the stack', () => {
    const pieces = "(~'~#+~`,~#(a . ~#|~#1=(#1# ~#+(not ".split('~');
    const depth = LONG ? 100_000 : 30_000;
    for (const piece of pieces)
      for (const end of ['', ')', ')'.repeat(depth)]) expectSane(piece.repeat(depth) + end, 0, 3);
    expectSane(`(${'(a) '.repeat(depth)})`, 0, depth - 1);
  });
});
