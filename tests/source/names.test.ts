import { expect, test } from 'vitest';
import { readForm } from '../../src/source/form.ts';
import { packagesUsing } from '../../src/source/packages.ts';
import { namedIn } from '../../src/source/roles.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { nameMentionsIn, usesIn } from '../../src/source/uses.ts';

const NONE = new Set<string>();

/** Returns the mentions of F in each form of TEXT. */
function mentionsIn(text: string) {
  const forms = new TopLevelForms(new SourceText(text), NONE);
  return forms.allExtents().map(({ start }) => nameMentionsIn(forms.formFrom(start), 'F'));
}

test('a name is found in whatever package it stands, as it is read', () => {
  const text = '(f) (p::f) (g |F| :f #:f) \'(f) (list #\'f) "f" ; f';
  const called = mentionsIn(text).map(({ uses }) => uses.map((use) => use.called));
  expect(called).toEqual([[true], [true], [false], [false], [true], []]);
});

test('a package prefix of any package is a part of the form after it', () => {
  for (const home of ['p', 'cl', 'common-lisp', 'keyword'])
    expect(mentionsIn(`${home}::(g (f)) (f)`).map(({ uses }) => uses.map((use) => use.called))).toEqual([
      [true],
      [true],
    ]);
});

test('a definition is counted apart, and a name is of the form that it stands in', () => {
  const text = '(defun f () (g))\n(let () (defmethod f ()) (f))';
  expect(mentionsIn(text)).toEqual([
    { uses: [], definitions: 1 },
    { uses: [{ index: text.lastIndexOf('(f)'), called: true }], definitions: 1 },
  ]);
});

test('what a feature excludes between two forms is in neither, and a comma makes code of what is quoted', () => {
  expect(mentionsIn('(a) #+no (f) (b)').map(({ uses }) => uses)).toEqual([[], []]);
  const called = mentionsIn("'(f ,(f) `(f)) ',(f) ''(f)").map(({ uses }) => uses.map((use) => use.called));
  expect(called).toEqual([[false, true, false], [true], [false]]);
});

test('a name is found in a form that does not end, and in one behind a prefix that has no form', () => {
  expect(mentionsIn("(a (f)) (b ') (g (f)) (c (f").map(({ uses }) => uses.length)).toEqual([1, 0, 1, 1]);
});

test('a use is found however deep it stands', () => {
  const text = `${'(g '.repeat(100_000)}(f)${')'.repeat(100_000)}`;
  const source = new SourceText(text);
  const form = readForm(text, 0, NONE);
  expect(form && usesIn(form, { name: 'F' })).toEqual([300_000]);
  expect(namedIn(source, NONE, { name: 'F' })).toEqual([]);
  const other = `${text.slice(0, 300_000)}f${text.slice(300_003)}`;
  expect(namedIn(new SourceText(other), NONE, { name: 'F' })).toEqual([
    { start: 300_000, top: 0, role: 'code' },
  ]);
});

test('forms of a text are told again and again, also of a large one', () => {
  const large = `(${'a '.repeat(200_000)}(b))`;
  const text = `(first (second))\n${large}\n(third (fourth))`;
  const forms = new TopLevelForms(new SourceText(text), NONE);
  for (let round = 0; round < 2; round++) {
    for (const [start, name, use] of [
      ['(first', 'SECOND', '(second'],
      ['(a', 'B', '(b)'],
      ['(third', 'FOURTH', '(fourth'],
    ] as const) {
      const form = forms.formFrom(text.indexOf(start));
      expect(form && usesIn(form, { name })).toEqual([text.indexOf(use)]);
    }
  }
});

test('what the image does not read is no place of a name', () => {
  const text = '#+yes (f #-yes (g) #+(or yes no) (h #-(and yes) #-yes (g) (g)) #+no (h) (list #+no (g)))';
  const features = new Set(['YES']);
  const form = readForm(text, 0, features);
  const places = (name: string) => nameMentionsIn(form, name).uses.map(({ index }) => index);
  expect(places('G')).toEqual([]);
  expect(places('H')).toEqual([text.indexOf('(h ')]);
});

/** Returns the texts at which FORM, a text, uses USED. */
function used(form: string, name: string, setf = false): string[] {
  const read = readForm(form, 0, NONE);
  return (read ? usesIn(read, { name, setf }) : []).map((start) => form.slice(start).split(')')[0] ?? '');
}

test('a form behind a comma is evaluated, also where the template quotes it', () => {
  expect(used("(list `(g ',(f x) '(f y) (f z)))", 'F')).toEqual(['(f x']);
  expect(used("(list `(g '(f y)))", 'F')).toEqual([]);
  expect(used("`(a `(b ,',(f x)))", 'F')).toEqual(['(f x']);
});

test('a place is a use of the setf function only where it is set', () => {
  expect(used('(list (f x) (funcall (f y)))', 'F', true)).toEqual([]);
  expect(used("(progn (setf (f x) 1) (push 2 (f y)) (list (f z) #'(setf f)))", 'F', true)).toEqual([
    '(f x',
    '(f y',
    "#'(setf f",
  ]);
});

test('a package that uses another is found wherever a text defines it', () => {
  const text = `(eval-when (:compile-toplevel) (defpackage #:inner (:use :cl "BASE")))
(uiop:define-package "Named" (:import-from base #:f))
  (defpackage :other (:use :cl) (:documentation "Not of BASE."))`;
  expect(packagesUsing(text, ['BASE'])).toEqual(['INNER', 'Named']);
});
