// Every definition in lisp/ says what it is for.

import { expect, test } from 'vitest';
import { filesOf, textOf } from './files.ts';
import { definitions, type Form, topLevelForms } from './lisp.ts';

/** Where the documentation of a definition stands among its elements. */
const PLACE: Record<string, number> = {
  defun: 3,
  defmacro: 3,
  deftype: 3,
  'define-compiler-macro': 3,
  'define-operation': 3,
  'define-shape': 3,
  'define-wire-type': 3,
  'define-internal': 3,
  'define-internal-variable': 2,
  'define-internal-place': 2,
  'define-internal-type': 2,
  'define-internal-name': 2,
  'define-late-internal': 2,
  'define-runtime-variable': 3,
  'define-runtime-function': 3,
  defvar: 3,
  defparameter: 3,
  defconstant: 3,
  'sb-ext:defglobal': 3,
  defstruct: 2,
};

/** Those that have it as an option, as DEFCLASS has (:documentation "..."). */
const WITH_OPTION = ['defclass', 'defgeneric', 'define-condition'];

function documented({ elements }: Form): boolean {
  const [operator = ''] = elements;
  if (WITH_OPTION.includes(operator))
    return elements.some((element) => /^\(:documentation\s+"/.test(element));
  const place = PLACE[operator];
  return place === undefined || (elements[place] ?? '').startsWith('"');
}

/** Returns the definitions in TEXT that have no documentation, neither in them nor by a later SETF. */
function bareDefinitions(text: string): string[] {
  return definitions(text)
    .filter((form) => !documented(form) && !text.includes(`(setf (documentation '${form.elements[1]} `))
    .map(({ line, elements }) => `${line}: ${elements.slice(0, 2).join(' ')}`);
}

test('every definition has a docstring', () => {
  const bare = filesOf('lisp', '.lisp').flatMap((path) =>
    bareDefinitions(textOf(path)).map((definition) => `${path}:${definition}`),
  );
  expect(bare).toEqual([]);
});

test('the reader sees forms, and those within others', () => {
  const text =
    '(defun f (x) "Say (\\"x\\")." #\\( |)| x) ; (\n#| ( |#\n(eval-when (:execute)\n  (defvar *v* 1))';
  expect(topLevelForms(text).map(({ elements }) => elements[0])).toEqual(['defun', 'eval-when']);
  expect(definitions(text).map((form) => [form.line, form.elements[1], documented(form)])).toEqual([
    [1, 'f', true],
    [3, undefined, true],
    [4, '*v*', false],
  ]);
  expect(bareDefinitions(text)).toEqual(['4: defvar *v*']);
});
