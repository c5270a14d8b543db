// What read_definition reads: from files, after an edit, from evaluations, from files that nobody loaded.

import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const SHOP = `(defpackage :rd (:use :cl))
(in-package :rd)

(defclass shape () ((name :accessor shape-name))
  (:documentation "A shape."))

(defgeneric area (shape)
  (:documentation "The area of SHAPE."))

(defclass circle (shape) ((r :reader r)))
(defmethod area ((shape circle))
  ;; pi r2
  (* pi (r shape) (r shape)))

(defmethod area :around ((shape shape))
  (abs (call-next-method)))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun helper (x &optional y)
    "Helps."
    (list x y)))

(defun (setf place) (new x) (setf (car x) new))
(defvar *count* 0 "How many.")
(defstruct point x y)
#+nonsense (defun left-out ())
(deftype small () '(integer 0 9))
`;

const HELPER = '(defun helper (x &optional y)\n    "Helps."\n    (list x y))';
const AROUND = '(defmethod area :around ((shape shape))\n  (abs (call-next-method)))';

const at = sharedWorkspace();
beforeAll(async () => {
  at.put('src/shop.lisp', SHOP);
  at.put('tests/shop.lisp', '(in-package :cl-user)\n(deftest my-test\n  (is (= 1 1)))\n');
  at.put('shop.asd', '(defsystem "my-shop"\n  :components ())\n');
  await at.answer('load_file', { path: 'src/shop.lisp' });
});

function read(name: string, more: object = {}): Promise<string> {
  return at.answer('read_definition', { name, package: 'rd', ...more });
}

describe('a definition', () => {
  test('is read from its file, several at once', async () => {
    expect(await read('*count* (setf place) small')).toBe(
      `src/shop.lisp:24  RD::*COUNT* [SPECIAL VARIABLE]

(defvar *count* 0 "How many.")

src/shop.lisp:23  RD::(SETF PLACE) [SETF FUNCTION]

(defun (setf place) (new x) (setf (car x) new))

src/shop.lisp:27  RD::SMALL [TYPE]

(deftype small () '(integer 0 9))`,
    );
  });

  test('within another form is read alone', async () => {
    expect(await read('helper')).toBe(`src/shop.lisp:19-21  RD::HELPER [FUNCTION]\n\n${HELPER}`);
  });

  test('of a generic function tells its methods, and reads them', async () => {
    expect(await read('area')).toBe(
      `src/shop.lisp:7-8  RD::AREA [GENERIC-FUNCTION]

(defgeneric area (shape)
  (:documentation "The area of SHAPE."))

Methods (2; methods: true reads them):
  :AROUND (RD::SHAPE)  src/shop.lisp:15:1
  (RD::CIRCLE)  src/shop.lisp:11:1`,
    );
    expect(await read('area', { methods: true })).toContain(
      `src/shop.lisp:15-16  RD::AREA :AROUND (RD::SHAPE) [METHOD]\n\n${AROUND}`,
    );
    expect(await read('(defmethod area :around ((s shape)))')).toBe(
      `src/shop.lisp:15-16  RD::AREA :AROUND (RD::SHAPE) [METHOD]\n\n${AROUND}`,
    );
  });

  test('that makes several names is read once', async () => {
    expect(await read('point-x')).toBe(
      'src/shop.lisp:25  RD::POINT-X [FUNCTION], RD::(SETF POINT-X) [SETF FUNCTION]\n\n(defstruct point x y)',
    );
    expect(await read('shape-name')).toMatch(
      /^src\/shop\.lisp:4-5 {2}RD::SHAPE-NAME .*\n\n\(defclass shape /,
    );
  });

  test('can be of one kind', async () => {
    expect(await read('circle', { kind: 'class' })).toContain('(defclass circle ');
    expect(await read('circle', { kind: 'function' })).toBe(
      'RD::CIRCLE has no definition of the kind function: neither the image nor a Lisp file of the workspace has one. Leave out kind to see all.',
    );
  });

  test('of one kind is found in a file when the image knows only the symbol', async () => {
    const forms = ['(defun unloaded (x) x)', '(defmethod unloaded (x y) x)', '(defvar unloaded 1)'];
    at.put('unloaded.lisp', ['(in-package :rd)', ...forms].join('\n'));
    await at.answer('eval_form', { form: "'rd::unloaded" });
    for (const [kind, ...shown] of [
      ['function', forms[0]],
      ['generic-function', forms[1]],
      ['variable', forms[2]],
    ]) {
      const text = await read('unloaded', { kind });
      expect(forms.filter((form) => text.includes(form))).toEqual(shown);
    }
  });

  test('is found again after an edit, else told as it was loaded', async () => {
    const edited = at.put(
      'src/shop.lisp',
      `;; a line more\n${SHOP.replace('(list x y)', '(list y x)').replace(/\(defvar .*\n/, '')}`,
    );
    const later = Date.now() / 1000 + 5;
    utimesSync(join(at.root, 'src/shop.lisp'), later, later);
    expect(edited).toBeTruthy();
    expect(await read('helper')).toBe(
      `src/shop.lisp:20-22  RD::HELPER [FUNCTION] (changed since it was loaded; this is the current text)\n\n${HELPER.replace('x y))', 'y x))')}`,
    );
    expect(await read('*count*')).toBe(
      'src/shop.lisp:24  RD::*COUNT* [SPECIAL VARIABLE] (as it was loaded; not found in the file, which has changed since)\n\n(defvar *count* 0 "How many.")',
    );
  });

  test('is found again beside another of its name with more required parameters', async () => {
    const twin = (body: string) =>
      [
        '(defpackage :rd-one (:use :cl))',
        '(defpackage :rd-two (:use :cl))',
        '(in-package :rd-one)',
        '(defun twin (a) (list a))',
        '(in-package :rd-two)',
        `(defun twin (a b) (${body} a b))`,
      ].join('\n');
    at.put('src/twin.lisp', twin('list'));
    await at.answer('load_file', { path: 'src/twin.lisp' });
    at.put('src/twin.lisp', twin('list*'));
    expect(await read('rd-two::twin')).toBe(
      'src/twin.lisp:6  RD-TWO::TWIN [FUNCTION] (changed since it was loaded; this is the current text)\n\n(defun twin (a b) (list* a b))',
    );
    expect(await read('rd-one::twin')).toBe(
      'src/twin.lisp:4  RD-ONE::TWIN [FUNCTION] (as it was loaded; the file changed since, but not this form)\n\n(defun twin (a) (list a))',
    );
  });

  describe('one of two of its name', () => {
    const LOADED = [
      '(defpackage :rd-two-of (:use :cl))',
      '(in-package :rd-two-of)',
      '(defvar *limit* 1)',
      '(defmacro twice (x) `(list ,x))',
      '(let ((n 1)) (defun nested () n))',
      '(defun between () *limit*)',
      '(defvar *limit* 2)',
      '(defmacro twice (x) `(vector ,x))',
      '(let ((n 2)) (defun nested () n))',
    ];
    const NAMES = ['rd-two-of::*limit*', 'rd-two-of::twice', 'rd-two-of::nested'];
    const FIRST = {
      2: '(defvar *limit* 11)',
      3: '(defmacro twice (x) `(list ,x ,x))',
      4: '(let ((n 3)) (defun nested () n))',
    };
    const SECOND = {
      6: '(defvar *limit* 22)',
      7: '(defmacro twice (x) x)',
      8: '(let ((n 2)) (defun nested () (* n n)))',
    };
    const put = (changed: Record<number, string>, ...more: string[]) =>
      at.put('src/two-of.lisp', [...LOADED.map((line, index) => changed[index] ?? line), ...more].join('\n'));
    const readAll = async () => {
      const texts: string[] = [];
      for (const name of NAMES) texts.push(await read(name));
      return texts;
    };
    beforeAll(async () => {
      put({});
      await at.answer('load_file', { path: 'src/two-of.lisp' });
    });

    const NOW = [
      'src/two-of.lisp:7  RD-TWO-OF::*LIMIT* [SPECIAL VARIABLE] (changed since it was loaded; this is the current text)\n\n(defvar *limit* 22)',
      'src/two-of.lisp:8  RD-TWO-OF::TWICE [MACRO] (changed since it was loaded; this is the current text)\n\n(defmacro twice (x) x)',
      'src/two-of.lisp:9  RD-TWO-OF::NESTED [FUNCTION] (changed since it was loaded; this is the current text)\n\n(defun nested () (* n n))',
    ];

    test('is found again after an edit of both', async () => {
      put({ ...FIRST, ...SECOND });
      expect(await readAll()).toEqual(NOW);
    });

    test('is not taken for the other when it was deleted', async () => {
      put({
        ...FIRST,
        6: '',
        7: '',
        8: '',
      });
      const lost = ['*LIMIT* [SPECIAL VARIABLE]', 'TWICE [MACRO]', 'NESTED [FUNCTION]'];
      expect(await readAll()).toEqual(
        lost.map(
          (name, index) =>
            `src/two-of.lisp:${7 + index}  RD-TWO-OF::${name} (as it was loaded; not found in the file, which has changed since)\n\n${['(defvar *limit* 2)', '(defmacro twice (x) `(vector ,x))', '(defun nested () n)'][index]}`,
        ),
      );
    });

    test('is not taken for a third that was added beside it', async () => {
      put(
        SECOND,
        '(defvar *limit* 3)',
        '(defmacro twice (x) `(list* ,x))',
        '(let ((n 4)) (defun nested () n))',
      );
      for (const text of await readAll())
        expect(text).toContain('(as it was loaded; not found in the file, which has changed since)');
    });
  });

  test('that was evaluated is told as such', async () => {
    await at.answer('eval_form', { form: '(+ 1 2)\n(defun evaluated (x)\n  (list x))' });
    expect(await read('evaluated', { package: 'cl-user' })).toMatch(
      /^evaluated \d{4}-.*Z {2}COMMON-LISP-USER::EVALUATED \[FUNCTION\]\n\n\(defun evaluated \(x\)\n {2}\(list x\)\)$/,
    );
  });

  test('that was evaluated is read from the form that made it, whatever else has its name', async () => {
    const evaluate = (form: string) => at.answer('eval_form', { form });
    await evaluate('(defpackage :aa (:use :cl)) (defpackage :bb (:use :cl))');
    await evaluate('(defun aa::helper (x) (list :aa x))');
    await evaluate('(defun bb::helper (x y) (list :bb x y))');
    expect(await read('aa::helper')).toContain('(defun aa::helper (x) (list :aa x))');
    await evaluate('(defun aa::helper (x) (list :new x)) (error "Boo.")');
    expect(await read('aa::helper')).toContain('(defun aa::helper (x) (list :new x))');
    await evaluate('#+sbcl (let ((n 0)) (defun aa::counted () (incf n)) (defun aa::again () n))');
    expect(await read('aa::counted')).toMatch(
      /AA::COUNTED \[FUNCTION\]\n\n\(defun aa::counted \(\) \(incf n\)\)$/,
    );
    await evaluate('(in-package :aa) (defstruct pair left) (in-package :cl-user)');
    expect(await read('aa::pair-left')).toMatch(/AA::PAIR-LEFT \[.*\]\n\n\(defstruct pair left\)$/);
    await evaluate(`(defun aa::long () ${'1 '.repeat(3000)})`);
    expect(await read('aa::long')).toMatch(
      /^evaluated \S+Z {2}AA::LONG \[FUNCTION\] \(by \(defun aa::long \(\) 1 1 .*\.\.\.; its text was not kept\)$/,
    );
    await at.answer('observe', {
      form: '(progn (defun aa::long () 2) (aa::long))',
      functions: ['aa::again'],
    });
    expect(await read('aa::long')).toMatch(
      /^AA::LONG is in the image, but no record shows which file or evaluation defined it\. describe_symbol shows what it is\.$/,
    );
  });

  test('that is a method of an older load is read as it was', async () => {
    at.put('methods.lisp', '(defmethod kept ((x integer)) 1)\n(defmethod kept :around ((x string)) 2)\n');
    await at.answer('load_file', { path: 'methods.lisp' });
    at.put('methods.lisp', '(defmethod kept ((x integer)) 1)\n(defmethod kept ((x string)) 3)\n');
    const later = Date.now() / 1000 + 5;
    utimesSync(join(at.root, 'methods.lisp'), later, later);
    await at.answer('load_file', { path: 'methods.lisp' });
    expect(await read('(defmethod kept :around (string))', { package: 'cl-user' })).toBe(
      'methods.lisp:2  COMMON-LISP-USER::KEPT :AROUND (COMMON-LISP::STRING) [METHOD] (as it was loaded; not found in the file, which has changed since)\n\n(defmethod kept :around ((x string)) 2)',
    );
  });

  test('that the image does not know is found in the workspace', async () => {
    expect(await read('my-test', { package: 'cl-user' })).toBe(
      'tests/shop.lisp:2-3  my-test (found by its name in the file)\n\n(deftest my-test\n  (is (= 1 1)))',
    );
    expect(await read('"my-shop"')).toContain('(defsystem "my-shop"\n  :components ())');
  });

  test('that is nowhere is told, beside those that are', async () => {
    // A machine can have the sources of SBCL.
    const nowhere = `(setf (logical-pathname-translations "SYS") '(("SYS:**;*.*.*" "/nowhere/**/*.*")))`;
    await at.answer('eval_form', { form: nowhere });
    expect(await read('no-such mapcar')).toBe(
      'Symbol NO-SUCH not found in package rd (status: NIL)\n\nno source (SYS:SRC;CODE;LIST.LISP)  COMMON-LISP::MAPCAR [FUNCTION]',
    );
  });

  test.each([
    [{ name: ' ' }, "To read definitions, give 'name'; for the outline of a Lisp file, give 'path'."],
    [
      { name: 'x', path: 'src/shop.lisp' },
      "Give either 'name' or 'path': 'path' is for the outline of a whole file.",
    ],
    [
      { name: '; none' },
      "Parameter 'name' contains no name. Give symbols, or lists such as (setf area) or (defmethod area (circle)).",
    ],
    [{ path: 'none.lisp' }, expect.stringContaining('none.lisp')],
  ])('asked for by %j is refused', async (args, said) => {
    const answer = await at.answer('read_definition', args);
    expect(answer.replace('failed: ', '')).toEqual(said);
    expect(answer).toMatch(/^failed: /);
  });
});

test('an outline has a line a form, in parts', async () => {
  at.put('src/shop.lisp', SHOP);
  const whole = await at.answer('read_definition', { path: 'src/shop.lisp' });
  expect(whole).toBe(
    `src/shop.lisp has 13 forms that name something:

  1: (defpackage :rd (:use :cl))
  2: (in-package :rd)
  4: (defclass shape ())  A shape.
  7: (defgeneric area (shape))  The area of SHAPE.
  10: (defclass circle (shape))
  11: (defmethod area ((shape circle)))
  15: (defmethod area :around ((shape shape)))
  18: (eval-when (:compile-toplevel :load-toplevel :execute))
  19:   (defun helper (x &optional y))  Helps.
  23: (defun (setf place) (new x))
  24: (defvar *count*)  How many.
  25: (defstruct point)
  27: (deftype small ())`,
  );
  expect(await at.answer('read_definition', { path: 'src/shop.lisp', limit: 1, offset: 2 })).toBe(
    'src/shop.lisp has 13 forms that name something:\n\n  4: (defclass shape ())  A shape.\n  ...\nNote: 13 forms; limit and offset reach the rest.',
  );
});

test('more text than names have is refused before it is read', async () => {
  expect(await read('#'.repeat(1_000_000))).toBe(
    "failed: Parameter 'name' has 1000000 characters; the limit is 20000. Give names, not the text of definitions.",
  );
});
