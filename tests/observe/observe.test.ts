// observe: recorded calls, that the program behaves the same meanwhile, and that nothing stays of it.

import { describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedProgram } from '../shared.ts';

const PROGRAM = `(defpackage :app (:use :cl))
(in-package :app)
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun twice (x) (values x (* 2 x)))
(defun none () (values))
(defun leave (x) (throw :out x))
(defun fail (text) (error text))
(defun even (n) (if (zerop n) :even (odd (1- n))))
(defun odd (n) (if (zerop n) :odd (even (1- n))))
(defun deep (n) (if (zerop n) 0 (1+ (deep (1- n)))))
(defun apply-to (function x) (funcall function x))
(defun on-stack () (let ((list (list 1 2))) (declare (dynamic-extent list)) (taken list)))
(defun taken (list) (length list))
(defun keep (vector) (length vector))
(defun replaced (x) (list :old x))
(defun removed (x) x)
(defgeneric stow (x) (:method (x) (list x)) (:method ((x number)) (call-next-method)) (:method ((x integer)) (call-next-method))
  (:method :after (x)) (:method :after ((x integer))) (:method :before (x)) (:method :before ((x integer)))
  (:method :around ((x number)) (call-next-method)))
(define-method-combination turned :operator list)
(defgeneric turned (x) (:method-combination turned :most-specific-last) (:method turned (x) :t) (:method turned ((x integer)) x))
(defgeneric area (shape) (:method ((shape integer)) (* shape shape)) (:method ((shape string)) (length shape)))
(defclass noisy () ((name :initform "n")))
(defmethod print-object ((object noisy) stream) (error "No printing."))
(defclass quiet () ())
(defmethod print-object ((object quiet) stream) (write-string "quiet" stream))
(defun look (object) object)
(declaim (inline small)) (defun small (x) (1+ x))
(defun replaced-by-macro (x) x) (define-compiler-macro replaced-by-macro (x) x) (defun replaces () (replaced-by-macro 3))
(defun leap (n) (declare (fixnum n) (optimize (speed 3) (debug 0))) (if (plusp n) (leap (1- n)) n))
(defun no-leap (n) (declare (fixnum n) (optimize (speed 3) (debug 0))) (flet ((no-leap (n) n)) (no-leap n)))
(defvar *quiet* (make-instance 'quiet))
(defgeneric hush (x) (:method ((x (eql *quiet*))) (call-next-method)) (:method ((x quiet)) :hushed))
(defun work (n) (let ((sum 0)) (dotimes (i n sum) (setf sum (mod (+ sum (* i i)) 1000003)))))
(defun middle (n) (1+ (work n)))
(defun make-lists (n) (let ((all '())) (dotimes (i n all) (push (make-list 20) all))))
(defvar *go* t) (defvar *served* (sb-thread:make-semaphore))
(defun serve () (loop while *go* do (twice 1) (sb-thread:signal-semaphore *served*) (sleep 0.005)))
`;

const session = sharedProgram('app', PROGRAM);

/** Returns what observe answers, with times as N. */
async function observe(args: Record<string, unknown>): Promise<string> {
  const text = await session.text('observe', args);
  return text.replace(/\b\d+(\.\d+)? (ns|µs|ms|s)\b/g, 'N').replace(/APP::/g, '');
}

/** Returns those of NAMES whose functions are encapsulated. */
const left = (...names: string[]) =>
  session.eval(
    `(remove-if-not (lambda (name) (let ((function (sb-kernel:%coerce-name-to-fun name))) (if (typep function 'generic-function) (sb-pcl::generic-function-encapsulations function) (sb-impl::encapsulation-info function)))) '(${names.join(' ')}))`,
  );

describe('calls', () => {
  test('a tree with arguments, values and callers', async () => {
    expect(await observe({ form: '(fib 3)', functions: ['fib'] })).toBe(
      '5 calls in N.\n  (FIB 3) => 2  N\n    (FIB 2) => 1  N\n      (FIB 1) => 1  N\n      (FIB 0) => 0  N\n    (FIB 1) => 1  N\n\nValue: 2',
    );
    expect(await observe({ form: '(fib 3)', functions: ['fib'], where: '(= n 1)' })).toBe(
      '2 of 5 calls in N.\n  (FIB 1) => 1  N, by FIB\n  (FIB 1) => 1  N, by FIB\n\nValue: 2',
    );
  });

  test.each([
    ['(multiple-value-list (twice 4))', 'twice', '(TWICE 4) => 4, 8  N', '(4 8)'],
    ['(none)', 'none', '(NONE) => no values  N', '; No values'],
    ['(catch :out (leave 7) 8)', 'leave', '(LEAVE 7) left by a throw  N', '7'],
    [
      '(handler-case (fail "bad") (error () :handled))',
      'fail',
      'left after COMMON-LISP::SIMPLE-ERROR: bad',
      ':HANDLED',
    ],
    [
      '(stow 1)',
      'stow',
      'methods :AROUND ((X COMMON-LISP::NUMBER)) :BEFORE ((X COMMON-LISP::INTEGER)) :BEFORE (X) ((X COMMON-LISP::INTEGER)) ((X COMMON-LISP::NUMBER)) (X) :AFTER (X) :AFTER ((X COMMON-LISP::INTEGER))',
      '(1)',
    ],
    ['(turned 1)', 'turned', 'methods TURNED (X) TURNED ((X COMMON-LISP::INTEGER))\n', '(:T 1)'],
    ["(mapcar 'small '(1))", 'small', '(SMALL 1) => 2', '(2)'],
  ])('%s', async (form, name, call, value) => {
    const text = await observe({ form, functions: [name] });
    expect(text).toContain(call);
    expect(text).toContain(`Value: ${value}`);
    expect(await left(name)).toBe('NIL');
  });

  test('of a function with a compiler macro that replaced them are told so', async () => {
    expect(await observe({ form: '(replaces)', functions: ['replaced-by-macro'] })).toBe(
      'No call of REPLACED-BY-MACRO was recorded.\n\nNote: Calls of REPLACED-BY-MACRO that a compiler macro replaced are not recorded.\n\nValue: 3',
    );
  });

  test('of a function compiled for speed that calls itself are told to be unseen', async () => {
    expect(await observe({ form: '(leap 3)', functions: ['leap'] })).toBe(
      '1 call in N.\n  (LEAP 3) => 0  N\n\nNote: Recursive calls of LEAP are not recorded: SBCL compiled them as jumps, as it does when speed or space is above debug.\n\nValue: 0',
    );
    expect(await observe({ form: '(no-leap 3)', functions: ['no-leap'] })).toBe(
      '1 call in N.\n  (NO-LEAP 3) => 3  N\n\nValue: 3',
    );
  });

  test('of what a method names, with its methods by the variables that their specializers are values of', async () => {
    expect(await observe({ form: '(hush *quiet*)', functions: ['(defmethod hush ((x quiet)))'] })).toContain(
      '=> :HUSHED  N, methods ((X (EQL *QUIET*))) ((X QUIET))',
    );
  });

  test('of a method that does not exist are refused, and of a form that names nothing', async () => {
    expect(await observe({ form: '(area 2)', functions: ['(defmethod app::area :after (string))'] })).toBe(
      'AREA has no method (defmethod app::area :after (string)). Its methods: (COMMON-LISP::INTEGER), (COMMON-LISP::STRING). Nothing was done.',
    );
    expect(await observe({ form: '1', functions: ['(defmethod)'] })).toBe(
      '(defmethod) names no definition. Give a symbol, (setf area), or (defmethod area (circle)).',
    );
  });

  test('of many calls the last are shown, and a package is observed whole', async () => {
    const text = await observe({ form: '(fib 15)', functions: ['app:'], limit: 2 });
    expect(text).toMatch(
      /^1,973 calls in N\. The last 2:\n {2}\(FIB 0\) => 0 {2}N, by FIB\n {2}\(FIB 1\) => 1/,
    );
    expect(text).toContain('Note: Calls of ');
  });

  test('of calls that do not all fit the last are shown', async () => {
    await session.eval('(defun eight (&rest all) (declare (ignore all)) "a value of some length")');
    const part = '"an argument of some length"';
    const form = `(dotimes (i 600) (eight i ${part} ${part} ${part} ${part} ${part} ${part} ${part}))`;
    const rows =
      (await observe({ form, functions: ['eight'], limit: 500 })).split('\n\n')[0]?.split('\n') ?? [];
    const shown = rows.length - 1;
    expect(shown).toBeLessThan(500);
    expect(rows[0]).toBe(`600 calls in N. The last ${shown}:`);
    expect(rows[1]).toContain(`(EIGHT ${600 - shown} `);
    expect(rows.at(-1)).toContain('(EIGHT 599 ');
  });

  test('of a package the types are told of the functions called most, and how many there are more', async () => {
    await session.eval(`(defpackage :wide (:use :cl))
      (dotimes (i 41) (eval (list 'defun (intern (format nil "F~D" i) :wide) '(x) 'x)))`);
    const form = "(progn (funcall 'wide::f40 1) (funcall 'wide::f40 1) (funcall 'wide::f20 1))";
    const text = await observe({ form, functions: ['wide:'], mode: 'types', limit: 2 });
    expect(text).toMatch(
      /^WIDE::F40: 2 calls\n[\s\S]*\n\nWIDE::F20: 1 call\n[\s\S]*\n\n39 more functions, called no more often; limit shows more\./,
    );
    expect(await observe({ form, functions: ['wide:'], mode: 'types', limit: 41 })).not.toContain(
      'more functions',
    );
  });

  test('calls of threads, while the program runs', async () => {
    await session.eval(
      '(setf *go* t) (defvar *server* (sb-thread:make-thread (quote serve) :name "server")) (sb-thread:wait-on-semaphore *served*)',
    );
    const text = await observe({ seconds: 1, functions: ['twice'], limit: 1 });
    expect(text).toMatch(/^\d+ calls in N\. The last 1:\n {2}\(TWICE 1\) => 1, 2 {2}N, by SERVE, in server$/);
    expect(await session.eval('(setf *go* nil) (sb-thread:join-thread *server*)')).toContain('NIL');
  });
});

describe('the program behaves the same', () => {
  test.each([
    // A loop of tail calls must not fill the stack, however long; the same without us keeps no frame.
    ['(even 300000)', ['even', 'odd'], ':EVEN'],
    ['(deep 5000)', ['deep'], '5000'],
  ])('%s', async (form, functions, value) => {
    expect(await observe({ form, functions, limit: 1 })).toContain(`Value: ${value}`);
    expect(await left(...functions)).toBe('NIL');
  });

  test('what was on the stack is not kept', async () => {
    expect(await observe({ form: '(on-stack)', functions: ['taken'] })).toContain(
      '(TAKEN #<COMMON-LISP::CONS, which was on the stack>) => 2  N, by ON-STACK',
    );
  });

  test.each(['cl:car', 'sb-kernel::post-gc'])('%s is refused', async (name) => {
    const { text, isError } = await session.call('observe', { form: '1', functions: [name] });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^\S+ is a function of SBCL; only generic functions of SBCL can be observed\. Observe functions of the program/,
    );
  });

  test('a printer that fails is not called', async () => {
    const form = "(progn (look (make-instance 'noisy)) 1)";
    expect(await observe({ form, functions: ['look', 'cl:print-object'] })).toContain(
      '(LOOK #<NOISY NAME "n">)',
    );
  });
});

describe('whatever happens meanwhile', () => {
  test('a definition that is replaced, one that is removed, and one that is traced', async () => {
    const redefined = "(list (replaced 1) (eval '(defun replaced (x) (list :new x))) (replaced 2))";
    const text = await observe({ form: redefined, functions: ['replaced'] });
    expect(text).toContain('(REPLACED 1) => (:OLD 1)');
    expect(text).toContain('(REPLACED 2) => (:NEW 2)');
    expect(await session.eval('(replaced 3)')).toBe('(:NEW 3)');
    expect(
      await observe({ form: "(progn (removed 1) (fmakunbound 'removed))", functions: ['removed'] }),
    ).toContain('Note: REMOVED: not a function any more.');
    expect(await session.eval("(fboundp 'removed)")).toBe('NIL');
    await observe({ form: '(progn (trace fib) (fib 1))', functions: ['fib'] });
    expect(await session.eval('(fib 1)')).toMatch(/0: \(APP::FIB 1\)[\s\S]*returned 1/);
    await session.eval('(untrace)');
    expect(await session.eval('(fib 1)')).toBe('1');
  });

  test.each([
    ['priced', "#'priced", "(fdefinition 'priced)"],
    ['priced', "(symbol-function 'priced)", "(symbol-function 'priced)"],
    ['weighed', "#'weighed", "(fdefinition 'weighed)"],
  ])(
    'another function in place of %s, which calls it as %s, until %s is set back',
    async (name, got, place) => {
      await session.eval(`(defun priced (x) (* 2 x))
      (defgeneric weighed (x) (:method (x) (* 2 x)))`);
      const now = `(sb-kernel:%coerce-name-to-fun '${name})`;
      await session.eval(`(defvar *plain* nil) (setf *plain* ${now})`);
      const form = `(let ((old ${got}))
      (list (unwind-protect (progn (setf ${place} (lambda (x) (list :instead (funcall old x)))) (funcall #'${name} 3))
              (setf ${place} old))
            (funcall #'${name} 4)))`;
      const text = await observe({ form, functions: [name] });
      expect(text).toContain('=> (:INSTEAD 6)');
      expect(text).toContain('4) => 8');
      expect(text).toContain('Value: ((:INSTEAD 6) 8)');
      expect(await session.eval(`(eq *plain* ${now})`)).toBe('T');
      expect(await left(name)).toBe('NIL');
    },
  );

  test('a form that signals or is interrupted leaves no probe', async () => {
    const failed = await session.call('observe', {
      form: '(progn (twice 1) (fail "no"))',
      functions: ['twice', 'fail'],
    });
    expect(failed.isError).toBe(true);
    expect(failed.text).toMatch(/^Error: no\n[\s\S]*2 calls of APP in .*\n {2}\(TWICE 1\) => 1, 2/);
    await session.eval('(defvar *ran* nil)');
    const form = '(loop (twice 1) (twice 1) (setf *ran* t) (sleep 0.01))';
    const looping = session.call('observe', { form, functions: ['twice'], limit: 1 });
    await until('a call', 10_000, async () => (await session.eval('*ran*')) === 'T');
    await session.call('interrupt');
    const ended = await looping;
    expect(ended.text).toMatch(
      /^Error: Interrupted after \d+\.\d s[\s\S]*The last 1:\n {2}\(APP::TWICE 1\) => 1, 2/,
    );
    expect(await left('twice', 'fail')).toBe('NIL');
  });

  test('a million calls a second are counted, and some of them recorded', async () => {
    // However few calls a second a busy machine makes.
    await session.eval('(defvar *often* (shiftf live-lisp.observe::*calls-a-second* 1000))');
    const text = await observe({ form: '(dotimes (i 2000000) (twice i))', functions: ['twice'], limit: 1 });
    expect(text).toMatch(/^[\d,]{5,9} of 2,000,000 calls in N\./);
    expect(text).toMatch(/Note: TWICE was called so often that only 1 in \d+ calls was recorded\./);
    // Just inside of that each is.
    const all = await observe({ form: '(dotimes (i 60000) (twice i))', functions: ['twice'], limit: 1 });
    expect(all).toMatch(/^60,000 calls in N/);
    expect(all).not.toContain('so often');
    await session.eval('(setf live-lisp.observe::*calls-a-second* *often*)');
  });

  test('what calls hold does not fill the heap', async () => {
    const form = '(dotimes (i 3000) (keep (make-array 2000000 :element-type (quote (unsigned-byte 8)))))';
    const text = await observe({ form, functions: ['keep'], limit: 1 });
    expect(text).toContain(
      'Note: Only 20 of 3000 calls were kept, because their arguments and values filled the heap.',
    );
    expect(
      await observe({ form: '(dotimes (i 900) (keep (make-array 20)))', functions: ['keep'] }),
    ).not.toContain('Only');
  });

  test('a thread that ends within a call', async () => {
    const form =
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (apply-to (lambda (x) x (sb-thread:abort-thread)) 1))) :default :ended)';
    const text = await observe({ form, functions: ['apply-to'] });
    expect(text).toMatch(/left by a throw[\s\S]*\nValue: :ENDED/);
  });

  test('two observations of one function at once', async () => {
    const functions = ['twice'];
    const slow = observe({ form: '(loop until *go* do (sleep 0.1) finally (twice 5))', functions });
    await until('the first', 10_000, async () => !(await left('twice')).startsWith('NIL'));
    expect(await observe({ form: '(twice 6)', functions })).toContain('(TWICE 6) => 6, 12');
    await session.eval('(setf *go* t)');
    expect(await slow).toContain('(TWICE 5) => 5, 10');
    expect(await left('twice')).toBe('NIL');
  });

  test('a condition on arguments that fails selects nothing, and is told', async () => {
    expect(
      await observe({ form: '(progn (twice 1) (twice 5))', functions: ['twice'], where: '(> (car x) 1)' }),
    ).toContain(
      'None of 2 calls passed the filter where.\n\nNote: The where form signalled COMMON-LISP::TYPE-ERROR for 2 calls of TWICE; these were not recorded.',
    );
  });
});

test.each([
  ['a key', '(let ((table (make-hash-table :test (quote equal)))) (setf (gethash (list n) table) 0) table)'],
  ['a matrix', "(make-array '(2 2) :initial-contents (list (list 1 2) (list 3 n)))"],
  ['an instance', "(make-instance 'noted :part n)"],
])('the values of two forms differ in what is within %s', async (_what, made) => {
  await session.eval(`(defclass noted () ((part :initarg :part))) (defun made (n) ${made})`);
  const against = { form: '(made 1)', seconds: 0.1 };
  expect(await observe({ ...against, against: '(made 2)' })).toContain('Their values differ: ');
  expect(await observe({ ...against, against: '(made 1)' })).not.toContain('differ: ');
});

test('values do not differ in the order of a table, and those with circles are compared', async () => {
  await session.eval(`(defstruct ring next name)
    (defun filled (keys) (let ((table (make-hash-table))) (dolist (key keys table) (setf (gethash key table) (list key)))))
    (defun ring (name) (let ((one (make-ring :name :one)) (all (make-hash-table)))
      (setf (ring-next one) (make-ring :next one :name name) (gethash 1 all) one (gethash 2 all) all)
      all))`);
  const against = { form: "(filled '(1 2 3))", against: "(filled '(3 1 2))", seconds: 0.1 };
  expect(await observe(against)).not.toContain('differ: ');
  expect(await observe({ ...against, form: '(ring 1)', against: '(ring 1)' })).not.toContain('differ: ');
  expect(await observe({ ...against, form: '(ring 1)', against: '(ring 2)' })).toContain(
    'Their values differ: ',
  );
});

describe('profiles', () => {
  test('of the CPU: functions with their files, and none of ours', async () => {
    const text = await observe({ form: '(middle 200000)', mode: 'cpu', seconds: 1 });
    expect(text).toMatch(
      /^\d[\d,]* runs? of N(?: by the clock \(CPU N: it waited, or other processes had the CPU\))? and .* each\.(?: The first run, .* took N\.)? \d+ samples of CPU time\.\n {3}self {2}total\n/,
    );
    expect(text).toMatch(/ \d+% +\d+% {2}WORK {2}app\.lisp:\d+:1 {2}< MIDDLE/);
    expect(text).not.toContain('LIVE-LISP');
    expect(text.length).toBeLessThan(1600);
  });

  test('of generic functions: methods are told as such, and so is what finds them', async () => {
    const user = { package: 'cl-user' };
    await session.eval(
      `(progn (defgeneric taken (x)) (defmethod taken ((x integer)) x) (defmethod taken ((x string)) 1)
        (defun take-many (n) (dotimes (i n) (taken i) (taken "a"))))`,
      user,
    );
    const text = await session.text('observe', {
      form: '(take-many 2000000)',
      mode: 'cpu',
      seconds: 1,
      ...user,
    });
    expect(text).toMatch(
      /% {2}(dispatch of a generic function|\(:METHOD COMMON-LISP-USER::TAKEN \(\w+\)\)) {2}< COMMON-LISP-USER::TAKE-MANY/,
    );
    expect(text).not.toMatch(/LAMBDA|FAST-METHOD/);
  });

  test('of look-ups in a table whose keys have the same hash, but in no other', async () => {
    await session.eval(`(progn
      (defclass shelf () ((books :initform (make-hash-table :test 'equal))))
      (defvar *shelf* (make-instance 'shelf))
      (defvar *good* (make-hash-table :test 'equal))
      (loop for i below 500 do
        (setf (gethash (list 1 2 3 4 5 6 i) (slot-value *shelf* 'books)) i (gethash (list i 2) *good*) i))
      (defun look-up-all () (loop for i below 500 sum (+ (gethash (list 1 2 3 4 5 6 i) (slot-value *shelf* 'books)) (gethash (list i 2) *good*)))))`);
    const text = await observe({ form: '(look-up-all)', mode: 'cpu', seconds: 1 });
    expect(text).toContain(
      '\nNote: 500 of 500 keys of a hash table with the test COMMON-LISP::EQUAL in *SHELF* have the same hash, so looking one up takes up to 500 comparisons. Use keys whose hashes differ, or a hash function of your own (sb-ext:define-hash-table-test).',
    );
    expect(text).not.toContain('*GOOD*');
    const inspected = await session.text('inspect', { value: '*shelf*', path: ['books'] });
    expect(inspected).toContain(
      '\n\n500 of its keys have the same hash, so looking one up takes up to 500 comparisons. Use keys whose hashes differ, or a hash function of your own (sb-ext:define-hash-table-test).\n\n',
    );
    await session.eval(`(progn
      (defvar *hashed* '())
      (defun own-hash (key) (push key *hashed*) 1)
      (sb-ext:define-hash-table-test string= own-hash)
      (defvar *own* (make-hash-table :test 'string=))
      (loop for i below 20 do (setf (gethash (format nil "~D" i) *own*) i))
      (setf *hashed* '()))`);
    // To show an object runs no code of the program, such as its hash function.
    for (const value of ['*good*', '*own*'])
      expect(await session.text('inspect', { value })).not.toContain('same hash');
    expect(await session.eval('*hashed*')).toBe('NIL');
    await session.eval(`(let ((books (make-hash-table :test 'equal)))
      (loop for i below 2000 do (setf (gethash (list 1 2 3 4 5 6 i) books) i))
      (defun look-up-closed () (loop for i below 500 sum (gethash (list 1 2 3 4 5 6 i) books))))`);
    expect(await observe({ form: '(look-up-closed)', mode: 'cpu', seconds: 1 })).toContain(
      '\nNote: 2,000 of 2,000 keys of a hash table with the test COMMON-LISP::EQUAL in LOOK-UP-CLOSED have the same hash, so looking one up takes up to 2,000 comparisons. ',
    );
  });

  test('of memory', async () => {
    const text = await observe({ form: '(length (make-lists 20000))', mode: 'alloc', seconds: 1 });
    expect(text).toMatch(/samples of allocation\.\n {3}self {2}total\n.* (MAKE-LISTS|MAKE-LIST) /);
    expect(text).not.toMatch(/Note:| 0(?:\.0)?% +0(?:\.0)?%/);
  });

  test('of which the first run took another time than the others', async () => {
    await session.eval('(defvar *filled* nil)');
    const form = '(progn (unless *filled* (sleep 0.3) (setf *filled* t)) (middle 20000))';
    expect(await observe({ form, mode: 'cpu', seconds: 1 })).toMatch(
      /each\. The first run, which is not among them, took N\. \d+ samples/,
    );
  });

  test('of a form that prints: the output is that of one run', async () => {
    const text = await observe({ form: '(progn (print :printed) (middle 20000))', mode: 'cpu', seconds: 1 });
    expect(text).toMatch(/^\d[\d,]* runs of /);
    expect(text).toMatch(/\n\nOutput:\n:PRINTED\n\nFlame graph: \S+$/);
    expect(text).not.toContain('LIVE-LISP');
  });

  test('of time, in which it waits', async () => {
    const text = await observe({ form: '(progn (sleep 0.05) (make-string 400))', mode: 'time', seconds: 1 });
    expect(text).toMatch(
      /^\d+ runs of N by the clock \(CPU N: it waited, or other processes had the CPU\) and /,
    );
    const [, value = ''] = /\n\nValue: (.*)\n\nFlame graph: /s.exec(text) ?? [];
    expect(value).toMatch(/\[\.\.\. cut here; it has 400 characters \.\.\.\]/);
    expect(value.length).toBeLessThan(160);
    // Not every SBCL knows the names of functions in C.
    const [, slept] = /(\d+)% +\d+% {2}(?:\S*sleep|foreign code {2}< SB-UNIX::NANOSLEEP)/.exec(text) ?? [];
    expect(Number(slept)).toBeGreaterThan(80);
    expect(await observe({ form: '(sleep 0.05)', mode: 'cpu', seconds: 0.2 })).toContain(
      'it used too little CPU; mode: "time" shows where it waits.',
    );
  });

  test('one at a time', async () => {
    await session.eval('(defvar *profiled* nil) (defvar *refused* nil)');
    const form = '(progn (setf *profiled* t) (loop until *refused* do (sleep 0.01)))';
    const first = observe({ form, mode: 'time', seconds: 1 });
    await until('the profile', 10_000, async () => (await session.eval('*profiled*')) === 'T');
    expect(await observe({ seconds: 0.01, mode: 'cpu' })).toBe(
      'Another profile is being taken; call again when it has ended. Nothing was done.',
    );
    await session.eval('(setf *refused* t)');
    expect(await first).toContain('samples of time');
  });
});

test('which of two slow forms takes less, after few rounds', async () => {
  const text = await observe({ form: '(sleep 0.2)', against: '(sleep 0.2)', seconds: 0.1 });
  expect(text).toContain(' Medians and quartiles of 2 rounds in turn, time by the clock.');
});

test('of two forms that print the output is told once of each', async () => {
  const [form, against] = ['(print :one)', '(print :other)'];
  expect(await observe({ form, against, seconds: 0.1 })).toMatch(/\n\nOutput:\n:ONE\s*\n:OTHER$/);
});

test('which of two forms takes less', async () => {
  const text = await observe({ form: '(work 1000)', against: '(work 4000)', seconds: 0.5 });
  expect(text).toMatch(
    /^form: {4}N \(N to N\), .* bytes\nagainst: N \(N to N\), .* bytes\n`form` took 0\.\d+ times as long as `against`\. Medians and quartiles of \d+ rounds in turn, CPU time\.\nTheir values differ: /,
  );
  expect(await observe({ form: '(work 1000)', against: '(work 1000)', seconds: 0.5 })).toContain(
    '\n\nValue: ',
  );
});

test('the first run of a form that fills a table is told apart from the runs that are compared', async () => {
  const define =
    '(defvar *first-runs* (make-hash-table)) (defun filled-by (n) (or (gethash n *first-runs*) (setf (gethash n *first-runs*) (progn (sleep 0.2) n))))';
  await session.eval(define);
  expect(await observe({ form: '(filled-by 1)', against: '(progn 1)', seconds: 0.1 })).toMatch(
    / Medians and quartiles of \d+ rounds in turn, [^.]+\. The first run of form, which is not among them, took N\.\n/,
  );
  expect(await observe({ form: '(progn 1)', against: '(filled-by 2)', seconds: 0.1 })).toMatch(
    / in turn, [^.]+\. The first run of against, which is not among them, took N\.\n/,
  );
  expect(await observe({ form: '(filled-by 1)', against: '(filled-by 2)', seconds: 0.1 })).not.toContain(
    'first run',
  );
});

test('a package that is not there is loaded first', async () => {
  expect(await session.text('observe', { form: '(not-there-yet:run)' })).toBe(
    'Error: form 1 cannot be read: Package NOT-THERE-YET does not exist.\nThe form begins at line 1, column 1; reading stopped at line 1, column 19. Nothing was evaluated. If a system defines it, call load_system first.',
  );
});
