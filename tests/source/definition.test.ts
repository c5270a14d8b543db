// Which definition a form is.

import { expect, test } from 'vitest';
import { definitionOf, methodsMeant } from '../../src/source/definition.ts';
import { definitionsIn, likeliestFormsNaming } from '../../src/source/definitions.ts';
import { type Form, readForm } from '../../src/source/form.ts';
import { summaryOf } from '../../src/source/summary.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';

const FEATURES = new Set(['SBCL']);
const formIn = (text: string) => readForm(text, 0, FEATURES) as Form;
const formsIn = (text: string) => new TopLevelForms(new SourceText(text), FEATURES);

test.each<[string, string, string, string]>([
  ['(defun f (a b) (c d))', 'DEFUN', 'F', ''],
  ['(defvar f (list 1))', 'DEFVAR', 'F', ''],
  ['(cl:defun (setf p::f) (new x) x)', 'DEFUN', 'SETF F', ''],
  ['(defstruct (f (:conc-name g-)) a)', 'DEFSTRUCT', 'F', ''],
  ['(defmethod f () (g x))', 'DEFMETHOD', 'F', ''],
  ["(defmethod f :around ((x (eql 'a)) y &key z) x)", 'DEFMETHOD', 'F', ':AROUND EQL A T'],
  ['(p::define-view f ((x a)) x)', 'DEFINE-VIEW', 'F', 'A'],
])('%j defines by %s the name %s with method %j', (text, operator, name, method) => {
  expect(definitionOf(formIn(text))).toEqual({ operator, name, method });
});

test.each(['f', '(f)', '("f" g)', '(f (g h))', '(let ((f 1)) f)', "'(defun f ())", ''])(
  '%j is no definition of F',
  (text) => {
    const form = readForm(text, 0, FEATURES);
    expect(form && definitionOf(form)?.name).not.toBe('F');
  },
);

test('the list in the name of a method can be its lambda list or its specializers', () => {
  expect(methodsMeant(formIn('(defmethod area (circle))'))).toEqual(['T', 'CIRCLE']);
  expect(methodsMeant(formIn('(defmethod area :after ((shape circle)))'))).toEqual([
    ':AFTER CIRCLE',
    ':AFTER SHAPE CIRCLE',
  ]);
  expect(methodsMeant(formIn('(defmethod area ())'))).toEqual(['']);
  expect(methodsMeant(formIn('(defmethod area)'))).toEqual([]);
});

test('the beginning of a method ends with its lambda list, also with an empty one', () => {
  const [found] = likeliestFormsNaming(formsIn('(defmethod f :before () (g x))'), { name: 'F' });
  expect(found?.head).toBe('(defmethod f :before ())');
});

test('an operator with a package defines, and is the same without it', () => {
  const forms = formsIn('(trace f) (a:define-thing f 1)');
  const texts = (operator?: string) =>
    likeliestFormsNaming(forms, { name: 'F', ...(operator && { operator }) }).map(({ head }) => head);
  expect(texts()).toEqual(['(a:define-thing f)']);
  expect(texts('DEFINE-THING')).toEqual(['(a:define-thing f)']);
});

test('a summary knows the symbol of a structure with options', async () => {
  const { definitions } = await summaryOf(formsIn('(defstruct (f (:copier nil)) a)'), async () => {});
  expect(definitions.map(({ name, symbol }) => [name, symbol])).toEqual([['(f (:copier nil))', 'F']]);
  expect(definitionsIn(formsIn('(a:define-thing f 1)')).map(({ operator }) => operator)).toEqual([
    'a:define-thing',
  ]);
});
