// inspect with holders: what keeps an object, or the instances of a class, alive.

import { describe, expect, test } from 'vitest';
import { sharedProgram } from '../shared.ts';

const PROGRAM = `(defpackage :app (:use :cl))
(in-package :app)
(defclass visit () ((user :initarg :user) (next :initform nil)))
(defclass lone () ((next :initform nil)))
(defstruct box content)
(defclass held-by-class () ((shared :allocation :class :initform nil :accessor shared)))
(defvar *cache* (make-hash-table :test 'equal :synchronized t))
(defvar *weak* (make-hash-table :test 'eq :weakness :key))
(defvar *hooks* '())
(defvar *bound* nil)
(defvar *rows* (make-array '(2 2) :initial-element nil))
(defvar *both* nil)
(defgeneric handle (x))
(defun visit (user) (make-instance 'visit :user user))
(defvar *go* t)
(defvar *threads* '())
(defvar *begun* (sb-thread:make-semaphore))
(defun await-end () (sb-thread:signal-semaphore *begun*) (loop while *go* do (sleep 0.01)))
(defun serve (visit) (await-end) (slot-value visit 'user))
(defun start (name function)
  (push (sb-thread:make-thread function :name name) *threads*)
  (sb-thread:wait-on-semaphore *begun*))
(defun end-threads () (setf *go* nil) (mapc #'sb-thread:join-thread *threads*) (setf *threads* '() *go* t))
(defun churn () (sb-thread:signal-semaphore *begun*)
                (loop while *go* for list = (loop for i below 500 collect (make-box :content (list i (make-string 50))))
                      do (setf (gethash (random 100) *cache*) list)))
`;

const session = sharedProgram('app', PROGRAM);

/** Returns what holds the object that FORM makes, after the form has run in the package of the program. The id of an object is @N. */
async function holders(form: string, more: Record<string, unknown> = {}): Promise<string> {
  await session.eval(form);
  const text = await session.text('inspect', { value: '*', holders: true, ...more });
  return text.replace(/@\d+/g, '@N').replace(/\{[0-9A-F]+\}/g, '{A}');
}

const A = '#<APP::VISIT USER :A NEXT NIL>  @N';
const ONE = `${A} is kept alive by 1 reference.\n\n`;

describe('an object is held by', () => {
  test('the value of a hash table, a list and a slot', async () => {
    const box = '#S(APP::BOX :CONTENT #<APP::VISIT USER :A NEXT NIL>)';
    expect(
      await holders(
        `(let ((visit (visit :a))) (setf (gethash "k" *cache*) (list 1 2 (make-box :content visit))) visit)`,
      ),
    ).toBe(
      `${ONE}variable APP::*CACHE* = #<HASH-TABLE of 1>  @N\n` +
        `  value of "k" = (1 2 ${box})  @N\n  element 2 = ${box}  @N\n  slot CONTENT = ${A}`,
    );
    await session.eval('(clrhash *cache*)');
  });

  test('a closure', async () => {
    expect(
      await holders('(let ((visit (visit :a))) (push (lambda () (setf visit (list visit))) *hooks*) visit)'),
    ).toMatch(
      /variable APP::\*HOOKS\* = \(#<FUNCTION .*>\) {2}@N\n {2}element 0 = #<FUNCTION .*> {2}@N\n {2}closed-over value = #<APP::VISIT USER :A NEXT NIL> {2}@N$/,
    );
    await session.eval('(setf *hooks* nil)');
  });

  test('a slot, or the function, of a funcallable instance', async () => {
    await session.eval(
      '(defclass command () ((key :initform nil)) (:metaclass sb-mop:funcallable-standard-class))',
    );
    const way = `variable APP::*BOTH* = #<APP::COMMAND KEY`;
    const command = "(command (setf *both* (make-instance 'command)))";
    expect(
      await holders(`(let* (${command} (visit (visit :a))) (setf (slot-value command 'key) visit))`),
    ).toBe(`${ONE}${way} ${A.replace('  @N', '')}>  @N\n  slot KEY = ${A}`);
    const function_ = '(lambda () (setf visit (list visit)))';
    const form = `(let* (${command} (visit (visit :a)))
      (sb-mop:set-funcallable-instance-function command ${function_}) visit)`;
    expect(await holders(form)).toContain(
      '\n  slot FUNCTION = #<FUNCTION (LAMBDA ()) {A}>  @N\n  closed-over',
    );
    await session.eval('(setf *both* nil)');
  });

  test('an EQL specializer of a generic function', async () => {
    expect(
      await holders('(let ((visit (visit :a))) (eval `(defmethod handle ((x (eql ,visit))) 1)) visit)'),
    ).toMatch(
      /1 reference.\n\nfunction APP::HANDLE = #<STANDARD-GENERIC-FUNCTION APP::HANDLE> {2}@N\n {2}method = #<STANDARD-METHOD .*> {2}@N\n {2}EQL specializer = #<APP::VISIT USER :A NEXT NIL> {2}@N$/,
    );
    await session.eval("(remove-method #'handle (first (sb-mop:generic-function-methods #'handle)))");
  });

  test('the stack of a thread, and a special variable that a thread has bound', async () => {
    await session.eval('(start "server" (let ((user :stack)) (lambda () (serve (visit user)))))');
    await session.eval('(start "binder" (lambda () (let ((*bound* (visit :bound))) (await-end))))');
    const text = await holders("(find-class 'visit)", { limit: 20 });
    expect(text).toContain('stack in thread server = #<APP::VISIT USER :STACK NEXT NIL>');
    expect(text).toContain('binding of APP::*BOUND* in thread binder = #<APP::VISIT USER :BOUND NEXT NIL>');
    await session.eval('(end-threads)');
  });

  test('what the program keeps, also where a thread has a word of it on its stack', async () => {
    await session.eval(
      '(start "worker" (let ((table *cache*)) (lambda () (loop for key being the hash-keys of table) (await-end) table)))',
    );
    const text = await holders('(setf (gethash "k" *cache*) (visit :a))');
    expect(text).toContain(`variable APP::*CACHE* = #<HASH-TABLE of 1>  @N\n  value of "k" = ${A}`);
    expect(text).not.toContain('stack');
    await session.eval('(end-threads) (clrhash *cache*)');
  });

  test('an element of an array, a shared slot of a class, and a property list', async () => {
    expect(await holders('(setf (aref *rows* 1 0) (visit :a))')).toBe(
      `${ONE}variable APP::*ROWS* = #2A((NIL NIL) (#<APP::VISIT USER :A NEXT NIL> NIL))  @N\n  element 2 = ${A}`,
    );
    await session.eval('(setf (aref *rows* 1 0) nil)');
    expect(await holders("(setf (shared (make-instance 'held-by-class)) (visit :a))")).toContain(
      'class APP::HELD-BY-CLASS = #<STANDARD-CLASS APP::HELD-BY-CLASS>  @N\n',
    );
    await session.eval("(setf (shared (make-instance 'held-by-class)) nil)");
    expect(await holders("(setf (get 'start :visit) (visit :a))")).toBe(
      `${ONE}property list of APP::START = (:VISIT #<APP::VISIT USER :A NEXT NIL>)  @N\n  element 1 = ${A}`,
    );
    await session.eval("(remprop 'start :visit)");
  });
});

test('each reference is told, the nearest first, and limit bounds them', async () => {
  const form = '(let ((visit (visit :a))) (setf *both* (list visit (list visit))) visit)';
  const text = await holders(form);
  expect(text).toMatch(/^#<.* is kept alive by 2 references\.\n/);
  expect(text.match(/^variable APP::\*BOTH\*/gm)).toHaveLength(2);
  expect(await holders(form, { limit: 1 })).toMatch(/\n\n\.\.\. 1 more way; limit shows more\.$/);
  await session.eval('(setf *both* nil)');
});

test('instances of a class are counted by what holds them', async () => {
  await session.eval(
    '(progn (dotimes (i 30) (setf (gethash i *cache*) (visit i))) (setf *both* (visit :b)) nil)',
  );
  expect(await holders("(find-class 'visit)")).toMatch(
    /^31 instances of #<STANDARD-CLASS APP::VISIT> {2}@N kept alive\.\n\n30 like this:\nvariable APP::\*CACHE\* = #<HASH-TABLE of 30> {2}@N\n {2}value of 0 = #<APP::VISIT USER 0 NEXT NIL> {2}@N\n\n1 like this:\nvariable APP::\*BOTH\* = #<APP::VISIT USER :B NEXT NIL> {2}@N$/,
  );
  await session.eval('(progn (clrhash *cache*) (setf *both* nil))');
});

describe('what does not hold it', () => {
  test('the last values, a held error, an id, a key in a weak table', async () => {
    await session.eval("(setf (gethash (make-instance 'lone) *weak*) 1)");
    await session.call('eval_form', { form: '(let ((held (make-instance \'lone))) (error "Held ~A" held))' });
    expect(await holders("(make-instance 'lone)")).toBe(
      `No object of the program refers to #<APP::LONE NEXT NIL>  @N: it is garbage, or held only by answers (*, held errors) or running calls.`,
    );
    expect(await holders("(find-class 'lone)")).toBe(
      'No object of the program refers to an instance of #<STANDARD-CLASS APP::LONE>  @N: it is garbage, or held only by answers (*, held errors) or running calls.',
    );
  });

  test.each([
    ['5', '5'],
    ["'car", 'CAR'],
  ])('nothing has to hold %s', async (form, shown) => {
    expect(await holders(form)).toBe(
      `${shown} cannot become garbage: numbers and characters are not heap objects, and a symbol is held by its package. Ask for an object that could be garbage.`,
    );
  });
});

test('what a variable of a locked package holds, the program holds', async () => {
  const kept = '(symbol-value (intern "*KEPT*" :closed))';
  await session.eval(
    `(defpackage :closed (:use :cl)) (setf ${kept} (visit :a)) (sb-ext:lock-package :closed)`,
  );
  expect(await holders(kept)).toBe(`${ONE}variable CLOSED::*KEPT* = ${A}`);
});

test('what only SBCL leads to is said to be so', async () => {
  expect(await holders('(let ((list (list 1))) (push (lambda () list) sb-ext:*exit-hooks*) list)')).toMatch(
    /^\(1\) {2}@N is kept alive by 1 reference\. All holders belong to SBCL\.\n\nvariable SB-EXT::\*EXIT-HOOKS\*/,
  );
  await session.eval('(pop sb-ext:*exit-hooks*)');
});

test('a thread that nothing may interrupt is named', async () => {
  await session.eval(
    '(progn (start "deaf" (lambda () (sb-sys:without-interrupts (sb-thread:signal-semaphore *begun*) (loop while *go* do (sb-thread:thread-yield))))) nil)',
  );
  const silent =
    'Note: The stacks of these threads could not be read: deaf. The threads run foreign code, or cannot be interrupted.';
  expect(await holders('(visit :a)')).toContain(silent);
  await session.eval('(defvar *seconds* (shiftf live-lisp.debug::*look-seconds* 0))');
  expect(await holders('(visit :a)')).toContain(silent);
  await session.eval('(setf live-lisp.debug::*look-seconds* *seconds*)');
  await session.eval('(end-threads)');
});

test('long lists, and threads that allocate meanwhile, are no hindrance', async () => {
  await session.eval(
    '(progn (setf *both* (append (make-list 200000) (list (visit :end)))) (dotimes (i 3) (start "churn" #\'churn)))',
  );
  expect(await holders("(find-class 'visit)")).toContain(
    '  element 200000 = #<APP::VISIT USER :END NEXT NIL>',
  );
  await session.eval('(progn (end-threads) (setf *both* nil))');
});

test('a search among very many objects ends, and says so', async () => {
  await session.eval('(progn (setf *both* (make-list 3100000)) nil)');
  expect(await holders('(visit :a)')).toBe(
    `No object of the program refers to ${A}: it is garbage, or held only by answers (*, held errors) or running calls.\n\n` +
      'Note: Only the 3,000,000 objects nearest to the roots were searched, so there may be more holders.',
  );
});
