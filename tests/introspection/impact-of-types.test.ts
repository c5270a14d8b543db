// impact_of_change of a type, of which SBCL records no uses: the places where the sources name it.

import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const TYPES = `(defpackage :types (:use :cl) (:export #:index))
(defpackage :elsewhere (:use :cl))
(in-package :types)
(deftype index (&optional (most 100)) \`(integer 0 ,most))
(deftype lone () 'integer)
(deftype amount () 'integer) ; amount and index in a comment
(defun amount (x) x)
(defun takes (i) "An index." (declare (type index i)) (the (index 10) i))
(defstruct row (at 0 :type index) #+no-such-thing (by 0 :type index))
(declaim (ftype (function (t) index) finds))
(defun finds (x) (check-type x index) (if (typep x '(or null index)) (amount 0) 1))
(in-package :elsewhere)
(defun own (index) (declare (type types:index index)) index)
`;

const written = new Written();
beforeAll(async () => {
  await written.load('types.lisp', TYPES);
});

const LINES = TYPES.split('\n');

/** Returns a row for the COUNTth place of TEXT in the line NUMBER, in the definition CALLER. */
function row(number: number, text: string, count = 1, caller = ''): string {
  const line = LINES[number - 1] ?? '';
  const column = line.split(text, count).join(text).length + 1;
  return `  ${caller && `TYPES::${caller}  `}types.lisp:${number}:${column}  ${line}`;
}

/** Returns the answer without the text of the definition. */
const impact = async (name: string, more: object = {}) =>
  (await written.session.text('impact_of_change', { name: `types::${name}`, ...more })).replace(
    /\n\ntypes\.lisp:.*\n.*$/,
    '',
  );

const NO_USES =
  'SBCL records no uses of a type. Compiled code keeps the old definition until it is compiled again.';

test.each([{}, { lambda_list: '()' }])('with %j: each place in the code that names it', async (more) => {
  expect(await impact('index', more)).toBe(
    [
      'TYPES::INDEX [TYPE]',
      NO_USES,
      [
        'Code that names it as a type (7):',
        row(8, 'index', 2, 'TAKES'),
        row(8, 'index', 3, 'TAKES'),
        row(9, 'index', 1, 'ROW'),
        row(10, 'index'),
        row(11, 'index', 1, 'FINDS'),
        row(11, 'index', 2, 'FINDS'),
        row(13, 'types:index').replace('types.lisp', 'ELSEWHERE::OWN  types.lisp'),
      ].join('\n'),
      `Unaffected exports and imports of its name (1):\n${row(1, '#:index')}`,
    ].join('\n\n'),
  );
});

test('that nothing names', async () => {
  expect(await impact('lone')).toBe(
    ['TYPES::LONE [TYPE]', NO_USES, 'Nothing else in the loaded sources names it.'].join('\n\n'),
  );
});

test('that is a function too, which stays', async () => {
  const named = [NO_USES, 'Nothing else in the loaded sources names it.'];
  expect((await impact('amount')).split('\n\n').slice(0, 4)).toEqual([
    'TYPES::AMOUNT [FUNCTION] (X)',
    `Calls that its removal would break (1):\n${row(11, '(amount').replace('types.lisp', 'TYPES::FINDS  types.lisp')}`,
    ...named,
  ]);
  const definition = '(deftype amount (most) (list 0 most))';
  expect((await impact('amount', { definition })).split('\n\n')).toEqual(['TYPES::AMOUNT [TYPE]', ...named]);
});

test('setf expanders, of which SBCL records no uses either, are told by the forms of files', async () => {
  await written.load(
    'places.lisp',
    `(in-package :types)
(defun place (x) x)
(defsetf place (x) (new) \`(list ,x ,new))
(define-setf-expander far () (values nil nil '(new) nil nil))
(defun put (x)
  (setf (place x) 3))
`,
  );
  expect(await written.session.text('who_calls', { name: '(setf types::place)', sites: true })).toBe(
    `Possible callers:

  top-level form at places.lisp:5
    places.lisp:6:3  (setf (place x) 3))
Note: TYPES::(SETF PLACE) is a setf expander, not a function. SBCL records no uses of it, so only forms in loaded files are shown.`,
  );
  expect(await written.session.text('who_calls', { name: '(setf types::far)' })).toBe(
    'No callers found for TYPES::(SETF FAR)\nNote: TYPES::(SETF FAR) is a setf expander, not a function. SBCL records no uses of it, so only forms in loaded files are shown.',
  );
  expect(
    (await written.session.text('impact_of_change', { name: '(setf types::place)' })).split('\n\n')[1],
  ).toBe(
    'Forms in files that set such a place; SBCL records no uses of a setf expander (1):\n  TYPES::PUT  places.lisp:6:3  (setf (place x) 3))',
  );
  expect(
    (await written.session.text('impact_of_change', { name: '(setf types::far)' })).split('\n\n')[1],
  ).toBe(
    'SBCL records no uses of a setf expander. who_calls lists the forms in files that set such a place; compile these again.',
  );
});
