// Random edits of the definitions in real libraries: nothing else changes, and the reverse edit gives the same bytes.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { definitionsIn, likeliestFormsNaming } from '../../src/source/definitions.ts';
import {
  applySplices,
  changedForms,
  type Splice,
  spliceAfter,
  spliceBefore,
  spliceOut,
  spliceOver,
  unfinishedLine,
} from '../../src/source/splice.ts';
import { SourceText } from '../../src/source/text.ts';
import { type Extent, TopLevelForms } from '../../src/source/top-level.ts';
import { libraries, SOURCES } from '../libraries.ts';
import { randomFrom } from '../random.ts';

const NAMES = libraries('alexandria', 'cl-ppcre', 'esrap', 'iterate', 'hunchentoot');
const FEATURES = new Set(['SBCL', 'X86-64', 'UNIX', 'THREAD-SUPPORT', 'SB-UNICODE', 'ANSI-CL']);
const NEW = [
  '(defun fresh-one (x)\n  "Of a test; here."\n  x)',
  '; A comment.\n(defvar *fresh* 1) ; its end',
];

function formsOf(text: string): TopLevelForms {
  return new TopLevelForms(new SourceText(text), FEATURES);
}

const FILES = NAMES.flatMap((name) =>
  readdirSync(join(SOURCES, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lisp'))
    .map((file) => ({
      name: join(name, file),
      text: readFileSync(join(SOURCES, name, file), 'utf8').replace(/^\ufeff/, ''),
    })),
).filter(({ text }) => text.length < 30_000);

/** Returns TEXT after SPLICE. Expects that it is read as before but for that. */
function edited(name: string, text: string, splice: Splice): string {
  const now = applySplices(text, [splice]);
  if (typeof now !== 'string') throw new Error('It is one splice.');
  const outside = [text.slice(0, splice.start), text.slice(splice.end)];
  expect([name, now.startsWith(outside[0] ?? ''), now.endsWith(outside[1] ?? '')]).toEqual([
    name,
    true,
    true,
  ]);
  expect([name, changedForms(formsOf(text), formsOf(now), [splice])]).toEqual([
    name,
    expect.objectContaining({ changed: expect.anything() }),
  ]);
  return now;
}

/** Returns TEXT without what was ADDED as SPLICE says. */
function withoutAdded(name: string, text: string, { start, text: put }: Splice, added: string): string {
  const at = start + put.indexOf(added);
  const end = at + added.length;
  return edited(name, text, spliceOut(text, { start: at, fullStart: at, end }));
}

const random = randomFrom(20_261_122);
const CASES = Array.from({ length: 30 }, (_, index) => {
  const file = FILES[index % FILES.length] ?? { name: '', text: '' };
  const defined = definitionsIn(formsOf(file.text));
  const chosen = defined[random(Math.max(1, defined.length))];
  return { ...file, chosen, put: NEW[random(NEW.length)] ?? '', crlf: random(4) === 0 };
});

describe('random edits of definitions in libraries', () => {
  test.each(CASES)('$name', ({ name, text: plain, chosen, put: added, crlf }) => {
    if (chosen === undefined) return;
    const eol = crlf ? '\r\n' : '\n';
    const [text, put] = [plain, added].map((each) => (crlf ? each.replaceAll('\n', '\r\n') : each)) as [
      string,
      string,
    ];
    const extent = extentLike(
      text,
      crlf ? chosen.start + plain.slice(0, chosen.start).split('\n').length - 1 : chosen.start,
    );
    const old = text.slice(extent.start, extent.end);

    const over = spliceOver(text, extent, put, eol);
    const replaced = edited(name, text, over);
    const back = { start: over.start, end: over.start + over.text.length, text: old };
    expect(edited(name, replaced, back) === text).toBe(true);

    edited(name, text, spliceOut(text, extent));
    // What shares a line with another form does not go back to it.
    if (/[^ \t\n][ \t]*$/.test(text.slice(0, extent.fullStart))) return;
    if (!/^[ \t]*(?:;.*)?\r?(?:\n|$)/.test(text.slice(extent.end))) return;
    const whole = '(defun fresh-one () 1)';
    for (const splice of [
      spliceBefore(formsOf(text), extent, whole, eol),
      spliceAfter(text, extent, whole, eol),
    ]) {
      const inserted = edited(name, text, splice);
      expect(withoutAdded(name, inserted, splice, whole) === text).toBe(true);
    }
  });
});

/** Returns the top-level form of TEXT that is or holds what begins at START, or is the next. */
function extentLike(text: string, start: number): Extent {
  return formsOf(text).extentAround(start) ?? { start: 0, end: 0, fullStart: 0 };
}

test('an outline has what a nested form defines, also behind an empty list and with options behind the name', () => {
  const text = '(progn (defstruct (point (:conc-name p-)) x))\n(let () (defun f (a)))';
  const rows = definitionsIn(formsOf(text)).map(({ depth, operator, name }) => [depth, operator, name]);
  expect(rows).toEqual([
    [0, 'progn', '(defstruct (point (:conc-name p-)) x)'],
    [1, 'defstruct', '(point (:conc-name p-))'],
    [0, 'let', '()'],
    [1, 'defun', 'f'],
  ]);
});

describe('what is found', () => {
  const found = (text: string, name: string, more: object = {}) =>
    likeliestFormsNaming(formsOf(text), { name, ...more }).map(({ start, end, head, home, fullStart }) => ({
      text: text.slice(fullStart, end),
      head,
      home,
      inner: start,
    }));

  test.each<[string, string, string, string[]]>([
    ['in a comment or a string nothing', '; (defun f ())\n#| (defun f ()) |# "(defun f ())"', 'F', []],
    [
      'what a feature leaves out',
      '#-sbcl (defun f ()) #+sbcl (defun f () 1)',
      'F',
      ['#+sbcl (defun f () 1)'],
    ],
    [
      'in another form with its feature',
      '(progn #+sbcl (defun f ()) #-sbcl (defun f ()))',
      'F',
      ['#+sbcl (defun f ())'],
    ],
    [
      'a structure with options',
      '(defstruct (f (:conc-name g-)) a)',
      'F',
      ['(defstruct (f (:conc-name g-)) a)'],
    ],
    [
      'a definition rather than a declaration',
      '(declaim (inline f)) (trace f) (defun f ())',
      'F',
      ['(defun f ())'],
    ],
  ])('%s', (_, text, name, texts) => {
    expect(found(text, name).map((each) => each.text)).toEqual(texts);
  });

  test('the package is that of the form before', () => {
    expect(found('(defun f ()) (in-package :a) (defun f ())', 'F').map(({ home }) => home)).toEqual([
      'COMMON-LISP-USER',
      'A',
    ]);
  });
});

test.each<[string, number | undefined]>([
  ['(a)', undefined],
  ['(a) ; a comment', undefined],
  ["(a)\n'", 2],
  ['(a)\n#+sbcl', 2],
  ['(a)\n#|', 1],
])('%j ends in line %s', (text, line) => {
  expect(unfinishedLine(text, FEATURES)).toBe(line);
});
