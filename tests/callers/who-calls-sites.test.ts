// S3.18: places of uses that an expansion has copied, and of those that #. has moved.

import { expect, test } from 'vitest';
import { Written } from './written.ts';

const written = new Written();

const COPYING = `(defpackage :places (:use :cl) (:export #:goal))
(defpackage :places-too (:use :cl) (:local-nicknames (#:pl #:places)))
(in-package :places)
(defun goal (x) x)
(defmacro copying (form) (copy-tree form))
(defmacro making (name) \`(copying (defun ,name () (goal 1))))
(copying (defun once (x)
  "(goal x)" ; (goal x)
  (list x
    (GOAL x) #-sbcl (goal 0) #| (goal 2) |#)))
(copying (defun twice (x)
  (goal x)
  (mapcar #'goal '(goal x))))
(making nowhere)
(copying (defun in-a-template (x)
  (macrolet ((it (y) \`(goal ,y)))
    (it x))))
(defun inside (x)
  (copying
   (progn (print x)
          (|GOAL| x))))
(in-package :places-too)
(defun goal (x) x)
(places::copying (defun far (x)
  (goal (places:goal x))
  (pl:goal x)))
`;

test('S3.18 a use that an expansion has copied is found by its name in the form', async () => {
  await written.load('copying.lisp', COPYING);
  expect(await written.sitesOf('PLACES::ONCE', 'places:goal')).toEqual([
    'copying.lisp:10:5  (GOAL x) #-sbcl (goal 0) #| (goal 2) |#)))',
  ]);
  expect(await written.sitesOf('PLACES::INSIDE', 'places:goal')).toEqual([
    'copying.lisp:21:11  (|GOAL| x))))',
  ]);
  expect(await written.sitesOf('PLACES::IN-A-TEMPLATE', 'places:goal')).toEqual([
    'copying.lisp:16:23  (macrolet ((it (y) `(goal ,y)))',
  ]);
});

test('S3.18 where it can be at several places all are told, and where at none the definition', async () => {
  expect(await written.sitesOf('PLACES::TWICE', 'places:goal')).toEqual([
    'copying.lisp:12:3  (goal x) (one of 2 candidates)',
    "copying.lisp:13:11  (mapcar #'goal '(goal x)))) (one of 2 candidates)",
  ]);
  expect(await written.sitesOf('PLACES::NOWHERE', 'places:goal')).toEqual([
    'copying.lisp:14:1  (making nowhere) (in an expansion)',
  ]);
});

test('S3.18 a symbol of the same name in another package is no use', async () => {
  expect(await written.sitesOf('PLACES-TOO::FAR', 'places:goal')).toEqual([
    'copying.lisp:25:9  (goal (places:goal x)) (one of 2 candidates)',
    'copying.lisp:26:3  (pl:goal x))) (one of 2 candidates)',
  ]);
  expect(await written.sitesOf('PLACES-TOO::FAR', 'places-too::goal')).toEqual([
    'copying.lisp:25:3  (goal (places:goal x))',
  ]);
});

test('S3.18 a variable is found by its name too', async () => {
  await written.load(
    'variable.lisp',
    `(defmacro copying-a (form) (copy-tree form))
(defvar *goal-a* 1)
(copying-a (defun reads-a ()
  (print
    (list *goal-a*))))
`,
  );
  expect(
    await written.session.text('who_references', { name: '*goal-a*', sites: true }),
  ).toBe(`Functions that read COMMON-LISP-USER::*GOAL-A*:

  COMMON-LISP-USER::READS-A
    variable.lisp:5:5  (list *goal-a*))))

> 3  (copying-a (defun reads-a ()
  4    (print
  5      (list *goal-a*))))`);
});

const MADE = `(defun goal-b (x) x)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *settings-b* '(optimize (speed 1) (safety 1))))
(defun made-b (x)
  (declare #.*settings-b*)
  (goal-b x)
  (let ((y (goal-b x)))
    (declare #.*settings-b*)
    (list (goal-b y)
          (when y (goal-b (goal-b 2))))))
`;

test('S3.18 what #. makes loses no site', async () => {
  await written.load('made.lisp', MADE);
  expect(await written.sitesOf('COMMON-LISP-USER::MADE-B', 'goal-b')).toEqual([
    'made.lisp:6:3  (goal-b x)',
    'made.lisp:7:12  (let ((y (goal-b x)))',
    'made.lisp:9:11  (list (goal-b y)',
    'made.lisp:10:19  (when y (goal-b (goal-b 2))))))',
    'made.lisp:10:27  (when y (goal-b (goal-b 2))))))',
  ]);
});

const INLINE = `(defpackage :inlined (:use :cl))
(in-package :inlined)
(declaim (inline foo (setf foo)))
(defun foo (x) (if (listp x) x (list x)))
(defun (setf foo) (new x) (setf (car x) new))
(defun several (a b)
  (list (foo a) (foo b)
        (mapcar #'foo (funcall #'foo a))))
(let ((k 1))
  (defun one (a) (list k (foo a)))
  (defun two (a) (list k (foo a) (foo k))))
(defun shadowing (foo)
  (flet ((foo (x) x)) (foo foo))
  (let ((foo 3)) (foo foo))
  (list '(foo foo) "(foo 1)" (foo foo)))
(defgeneric g (x))
(defmethod g ((x list)) (foo x) (foo (cdr x)))
(defmethod g ((x vector)) (foo x))
(defmacro with-foo (x) \`(list (foo ,x) (foo 3)))
(defun expanded (x) (list (with-foo x) (with-foo (foo x))))
(defun setting (x) (setf (foo x) 1) (setf (foo (cdr x)) 2))
(defun elsewhere (x) x)
`;

test('S3.18 of a function that is put in line all calls in a definition are told', async () => {
  await written.load('inlined.lisp', INLINE);
  const sites = async (user: string, name = 'inlined::foo') =>
    (await written.sitesOf(`INLINED::${user}`, name)).map((site) => site.split('  ')[0]);
  const at = (...places: string[]) => places.map((place) => `inlined.lisp:${place}`);
  expect(await sites('SEVERAL')).toEqual(at('7:9', '7:17', '8:17', '8:32'));
  expect(await sites('ONE')).toEqual(at('10:26'));
  expect(await sites('TWO')).toEqual(at('11:26', '11:34'));
  expect(await sites('SHADOWING')).toEqual(at('14:18', '15:30'));
  expect(await sites('G')).toEqual(at('17:25', '17:33', '18:27'));
  expect(await sites('EXPANDED')).toEqual(at('20:27', '20:50'));
  expect(await sites('SETTING', '(setf inlined::foo)')).toEqual(at('21:26', '21:43'));
});

test('S3.18 a parameter or binding that has the name of a function is no call of it', async () => {
  await written.load(
    'parameters.lisp',
    `(declaim (inline titled))
(defun title (x) x)
(defun titled (x) (title x))
(defun by-title (title)
  (let ((title (titled title))) title))
(defun by-local-title (x)
  (flet ((other (title) (titled title)))
    (other x)))
`,
  );
  expect(await written.sitesOf('COMMON-LISP-USER::BY-TITLE', 'title')).toEqual([
    'parameters.lisp:4:1  (defun by-title (title) (in an expansion)',
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::BY-LOCAL-TITLE', 'title')).toEqual([
    'parameters.lisp:6:1  (defun by-local-title (x) (in an expansion)',
  ]);
});

test('S3.18 S3.17 where a file defines a name twice the uses of both are told', async () => {
  await written.load(
    'twice.lisp',
    `(defun kept-twice (name) name)
(defmacro define-twice (name) \`(kept-twice ',name))
(define-twice once)
(define-twice again)
(define-twice again)
`,
  );
  expect(await written.sitesOf('COMMON-LISP-USER::AGAIN (define-twice)', 'kept-twice')).toEqual([
    'twice.lisp:4:1  (define-twice again) (in an expansion)',
    'twice.lisp:5:1  (define-twice again) (in an expansion)',
  ]);
});

const SEVERAL = [1, 2, 3, 4, 5];

test('callers of one shape are told together, with where each is, and others by themselves', async () => {
  const alike = SEVERAL.map((n) => `(defun alike-${n} (x) (list (goal-s x ${n}) "text ${n}"))`);
  await written.load(
    'shapes.lisp',
    `(defun goal-s (x y) (list x y))\n${alike.join('\n')}\n(defun other-s () (goal-s 1 2))\n(defun wrong-s () (goal-s 1))\n`,
  );
  const others = SEVERAL.slice(1).map((n) => `ALIKE-${n} ${n + 1}:26`);
  const one = 'shapes.lisp:2:26  (defun alike-1 (x) (list (goal-s x 1) "text 1"))';
  const { session } = written;
  expect(
    await session.text('who_calls', { name: 'goal-s', sites: true }),
  ).toBe(`Functions that call COMMON-LISP-USER::GOAL-S:

  COMMON-LISP-USER::ALIKE-1
    ${one}
    and 4 alike of COMMON-LISP-USER in shapes.lisp: ${others.join(', ')}
  COMMON-LISP-USER::OTHER-S
    shapes.lisp:7:19  (defun other-s () (goal-s 1 2))
  COMMON-LISP-USER::WRONG-S
    shapes.lisp:8:19  (defun wrong-s () (goal-s 1))`);
  expect(
    await session.text('impact_of_change', { name: 'goal-s', definition: '(defun goal-s (x) x)', limit: 1 }),
  ).toContain(`Calls that no longer fit (6 of 7 calls; names in COMMON-LISP-USER; each: 2 arguments, at most 1 taken):
  ALIKE-1  ${one}
    and 4 alike in shapes.lisp: ${others.join(', ')}
  ... 1 more
`);
});

test('methods of one shape are told together', async () => {
  const classes = SEVERAL.map((n) => `(defclass kind-${n} () ())`);
  const methods = SEVERAL.map((n) => `(defmethod run-s ((x kind-${n})) (goal-m x))`);
  await written.load(
    'methods.lisp',
    `(defun goal-m (x) x)\n${classes.join('\n')}\n${methods.join('\n')}\n(defun last-m () (goal-m 1))\n`,
  );
  const { session } = written;
  const at = (n: number) => `${n + 6}:31  [method (COMMON-LISP-USER::KIND-${n})]`;
  const text = await session.text('who_calls', { name: 'goal-m', sites: true });
  expect(text).toContain(
    `methods.lisp:7:31  (defmethod run-s ((x kind-1)) (goal-m x))  [method (COMMON-LISP-USER::KIND-1)]\n    and 4 alike in methods.lisp: ${SEVERAL.slice(1).map(at).join(', ')}`,
  );
});
