/** Holds positionOfForm against SBCL's own reader and numbering, and against text that is no Lisp at all. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TopLevelForms } from '../../src/source/position.ts';
import { SourceText } from '../../src/source/text.ts';
import { anyText } from '../any-text.ts';
import { testSbcl } from '../harness.ts';
import { libraries, SOURCES } from '../libraries.ts';
import { cases, LONG, PATIENCE_MS } from '../long.ts';

libraries('cl-ppcre');

const HERE = import.meta.dirname;
const SBCL = new Set(['SBCL']);

/** What SBCL says about a file: the numbers of each line it printed, NaN for a form without place. */
interface Report {
  source: string;
  features: Set<string>;
  lines: number[][];
}

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

function positionOfForm(source: string, offset: number, formNumber: number, features: Set<string>) {
  const forms = new TopLevelForms(new SourceText(source), features);
  return forms.position(indexOfOffset(source, offset), formNumber);
}

function offsetOfTopLevelForm(source: string, index: number, features: Set<string>): number | undefined {
  const start = new TopLevelForms(new SourceText(source), features).start(index);
  return start === undefined ? undefined : Array.from(source.slice(0, start)).length;
}

function offsetOfByte(source: string, bytes: number): number {
  return Array.from(source.slice(0, new SourceText(source).indexOfOctet(bytes))).length;
}

function askSbcl(question: string): Report[] {
  const flags = ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger'];
  const script = ['--load', join(HERE, 'oracle.lisp'), '--eval', `(position-oracle:${question})`, '--quit'];
  const run = spawnSync(testSbcl(), [...flags, ...script], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`SBCL failed: ${run.stderr.slice(0, 2000)}`);
  return run.stdout.split(/^file /m).flatMap((text) => {
    const [file = '', features = '', ...lines] = text.trimEnd().split('\n');
    if (file === '') return [];
    const numbers = lines.map((line) => line.split(' ').slice(1).map(Number));
    return { source: readFileSync(file, 'utf8'), features: new Set(features.split(' ')), lines: numbers };
  });
}

/** Counts the forms that agree, those that have no place in the text, and those whose number the latter move. */
function compare(reports: Report[]) {
  const count = { agreed: 0, placeless: 0, moved: 0 };
  for (const { source, features, lines } of reports) {
    // What was read of a text is kept: a library has thousands of forms.
    const text = new SourceText(source);
    const forms = new TopLevelForms(text, features);
    const indices = indicesOf(source);
    const indexOf = (offset: number) => indices[offset] ?? source.length;
    for (const [index, [offset = 0, ...starts]] of lines.entries()) {
      const seen = count.placeless;
      for (const [number, start] of starts.entries()) {
        const extra = count.placeless - seen;
        count[Number.isNaN(start) ? 'placeless' : extra === 0 ? 'agreed' : 'moved']++;
        if (Number.isNaN(start)) continue;
        // The conses that #. makes take numbers of which the text cannot tell.
        const found = forms.position(indexOf(offset), number - extra);
        expect(found).toEqual(text.positionAt(indexOf(start)));
        if (number === 0) expect(forms.start(index)).toBe(indexOf(start));
      }
    }
  }
  return count;
}

function expectSane(source: string, offset: number, number: number) {
  const index = offsetOfTopLevelForm(source, number, SBCL) ?? 0;
  for (const place of [positionOfForm(source, offset, number, SBCL), positionAt(source, index)]) {
    const line = source.split('\n')[(place?.line ?? 0) - 1] ?? '';
    // Of a long line it is the part around the place.
    if (line.length <= 1000) expect(place?.text ?? '').toBe(line.trim());
    else expect(line.includes(place?.text ?? '')).toBe(true);
    expect(place?.column ?? 0).toBeLessThanOrEqual(Array.from(line).length + 1);
  }
}

describe('positionOfForm, held against SBCL', { timeout: 600_000 }, () => {
  it('agrees on every number in a file of every construct, eight top-level atoms aside', () => {
    const reports = askSbcl(`report-file "${join(HERE, 'nasty.lisp')}"`);
    const { agreed, ...others } = compare(reports);
    // Since 2.5.11 commas have numbers too, and what is quoted.
    expect(agreed).toBeGreaterThanOrEqual(366);
    expect(others).toEqual({ placeless: 8, moved: 0 });
  });

  it.each(libraries('alexandria', 'hunchentoot'))('agrees on every number in %s', (system) => {
    const { agreed, placeless, moved } = compare(askSbcl(`report-system "${system}"`));
    expect(agreed).toBeGreaterThan(3000);
    // Alexandria has one '#. of a list, which has a number where what is quoted has one.
    expect(placeless).toBeLessThanOrEqual(1);
    if (placeless === 0) expect(moved).toBe(0);
  });

  it('agrees in cl-ppcre up to the lists that #. makes, and behind them but for their number', () => {
    const { agreed, placeless, moved } = compare(askSbcl('report-system "cl-ppcre"'));
    for (const count of [agreed, placeless, moved]) expect(count).toBeGreaterThan(1000);
  });

  it('finds the calls that SBCL has on record, in a file of characters of several bytes', () => {
    const [report] = askSbcl(`report-callers "${join(HERE, 'callers.lisp')}" "position-oracle::callee"`);
    const { source = '', features = SBCL, lines = [] } = report ?? {};
    const places = lines.map(([bytes = 0, number = 0]) => {
      const place = positionOfForm(source, offsetOfByte(source, bytes), number, features);
      return `${place?.line}:${place?.column}`;
    });
    expect(places.sort()).toEqual(['11:32', '13:19', '13:32']);
  });
});

describe('positionOfForm', () => {
  const at = (line: number, column: number, text: string) => ({ line, column, text });

  it('skips white space, comments and removed forms before the form', () => {
    const source = ';;; 😀 (a)\n #| (b) |# #-sbcl (c)\r\n\t#+sbcl (d (e))  \n';
    expect(positionOfForm(source, 0, 1, SBCL)).toEqual(at(3, 12, '#+sbcl (d (e))'));
    expect(positionOfForm(source, 9, 0, SBCL)).toEqual(at(3, 9, '#+sbcl (d (e))'));
  });

  it.each(['atom', '"(a)"', '#\\(', '#(v (a))', '#.(list (a))', '12'])('gives the place of %s', (atom) => {
    for (const number of [0, 7])
      expect(positionOfForm(`😀 ${atom}`, 1, number, SBCL)).toEqual(at(1, 3, `😀 ${atom}`));
  });

  it('gives the top-level form when it has no such number, or is cut off', () => {
    for (const number of [2, -1, 0.5, Number.NaN])
      for (const source of ['\n(a (b)\n)', '\n(a (b)\n'])
        expect(positionOfForm(source, 0, number, SBCL)).toEqual(at(2, 1, '(a (b)'));
  });

  it('gives nothing when there is no form', () => {
    for (const source of ['', ' ; (a)', '#| (a)', '#-sbcl (a)', '#+sbcl', ') (a)', '#-sbcl (a'])
      expect(positionOfForm(source, 0, 0, SBCL) ?? offsetOfTopLevelForm(source, 0, SBCL)).toBeUndefined();
    for (const offset of [3, 99, Infinity]) expect(positionOfForm('(a)', offset, 0, SBCL)).toBeUndefined();
    expect(offsetOfTopLevelForm('(a) b', 2, SBCL)).toBeUndefined();
  });
});

it('a call behind code that #. has made is no certain place when what is told fits another as well', () => {
  const text = '(progn #.(one) #.(two) (run (goal a) (other a)) (setf (goal b) 1 (other b) 2))';
  const forms = new TopLevelForms(new SourceText(text), new Set());
  const starts = [text.indexOf('(goal a'), text.indexOf('(goal b')];
  // Without what #. made these are 2 and 5. Each of the two can have made four conses: then it is the second.
  const told = [
    { name: 'GOAL', number: 13 },
    { name: 'OTHER', number: 14 },
  ];
  expect(forms.spots(0, [13], { name: 'GOAL' }, () => told)).toEqual([{ starts, sure: false }]);
});

describe('positionOfForm, on any text', { timeout: PATIENCE_MS }, () => {
  it('gives a place inside the text for random text', () => {
    const pieces =
      "( ) ' ` , ,@ #+ #- #1= #1# #2= #2# #( #. #' #\\ #S #? \" | \\ ; #| |# . quote or sbcl x:: 😀 \ud83d";
    const lispy = fc.string({ unit: fc.constantFrom(' ', '\n', ...pieces.split(' ')), maxLength: 60 });
    const text = fc.oneof(anyText(), lispy);
    fc.assert(fc.property(text, fc.integer(), fc.nat(20), expectSane), cases(1000));
    fc.assert(fc.property(text, fc.nat(40), fc.nat(20), expectSane), cases(1000));
  });

  it('gives a place inside the text for what is left of a real file', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
    const file = fc.constantFrom(...files.filter((name) => name.endsWith('.lisp')));
    const check = (name: string, from: number, length: number, number: number) => {
      const source = readFileSync(join(SOURCES, name), 'utf8').slice(from, from + length);
      expectSane(source, from % (length + 1), number);
    };
    fc.assert(fc.property(file, fc.nat(40_000), fc.nat(10_000), fc.nat(300), check), cases(100));
  });

  it('survives text nested deeper than the stack', () => {
    const pieces = "(~'~#(~#+~#+(~#-a ~#1=~`,~#(a . ~a::~#|~(not ~#1=(#1# ~#+(not ".split('~');
    const depth = LONG ? 100_000 : 30_000;
    for (const piece of pieces)
      for (const end of ['', ')', ')'.repeat(depth)]) expectSane(piece.repeat(depth) + end, 0, 3);
    expectSane(`(${'(a) '.repeat(depth)})`, 0, depth - 1);
  });
});
