// function_arglist on the fixture: exact texts.

import { describe, expect, test } from 'vitest';
import { expectLookup, prepare, sharedLooks } from './looks.ts';

const session = sharedLooks();

function arglist(symbol: string, more: Record<string, unknown> = {}): Promise<string> {
  return session.text('function_arglist', { symbol, ...more });
}

const SCALED = `LOOKS::SCALED (X &KEY (TIMES 2) ((:INSIDE INNER) 'MIDDLE INNER-P))
Kind: FUNCTION
Type: (FUNCTION (NUMBER &KEY (:TIMES INTEGER) (:INSIDE T)) (VALUES NUMBER &OPTIONAL))
Declaimed: FTYPE, INLINE
Compiler macro: (X &REST KEYS)
Documentation: Return X scaled.`;

describe('functions', () => {
  test.each([
    ['Scaled', 'lks'],
    ["#'looks::|SCALED|", 'CL'],
  ])('C14 %s in %s is LOOKS::SCALED, with all that is declaimed of it', async (symbol, home) => {
    expect(await arglist(symbol, { package: home })).toBe(SCALED);
  });

  test('the type is what the compiler found when none is declaimed', async () => {
    expect(await arglist('looks::plain')).toBe(`LOOKS::PLAIN (X &OPTIONAL (Y 3) (TEST #'EQL) &REST MORE)
Kind: FUNCTION
Type: (FUNCTION (T &REST T) (VALUES CONS &OPTIONAL))`);
  });

  test('C9 an inherited symbol is shown with its home', async () => {
    expect((await arglist('mapcar')).split('\n').slice(0, 2)).toEqual([
      'COMMON-LISP::MAPCAR (FUNCTION LIST &REST MORE-LISTS)',
      'Kind: FUNCTION',
    ]);
  });

  test('a function that was traced, or is a closure, has its lambda list still', async () => {
    await prepare(session, '(trace looks::scaled)');
    expect((await arglist('looks::scaled')).split('\n')[0]).toBe(SCALED.split('\n')[0]);
    await prepare(session, '(untrace looks::scaled)');
    await prepare(
      session,
      '(let ((x 1)) (setf (fdefinition (quote looks::closed)) (lambda (a &key b) (list a b x))))',
    );
    expect((await arglist('looks::closed')).split('\n')[0]).toBe('LOOKS::CLOSED (A &KEY B)');
  });

  test.each([
    ['(&key (quote 2) (a (quote b)))', "(&KEY (QUOTE 2) (A 'B))"],
    ['(&optional ((quote function) (quote (1 2))) . quote)', "(&OPTIONAL ((QUOTE FUNCTION) '(1 2)) . QUOTE)"],
  ])('names of parameters are no abbreviations: %s', async (list, shown) => {
    await prepare(session, `(defmacro looks::named-so ${list} 1)`);
    expect((await arglist('looks::named-so')).split('\n')[0]).toBe(`LOOKS::NAMED-SO ${shown}`);
    expect(await session.text('describe_symbol', { symbol: 'looks::named-so' })).toContain(shown);
  });

  test.each([
    ['nested lists', '(make-list 60 :initial-element (make-list 60 :initial-element (make-list 60)))'],
    ['shared vectors', '(let ((l 1)) (dotimes (i 40 l) (setf l (vector l l))))'],
    ['a circle', '(let ((l (list 1 2))) (setf (car l) l (cdr (last l)) l))'],
    ['an array', "(make-array '(60 60 60) :initial-element '(1 2))"],
  ])('a large default is not gone through to its end: %s', async (_, value) => {
    await prepare(
      session,
      `(progn (eval \`(defun looks::large (&optional (x ',${value})) x)) (eval \`(defclass looks::large () ((a :initform ',${value})))))`,
    );
    // Most of these would take longer than the limit of a call, on any machine.
    expect((await arglist('looks::large')).length).toBeLessThan(1200);
    expect(await session.text('describe_symbol', { symbol: 'looks::large' })).toContain('LOOKS::LARGE');
    expect((await session.text('class_slots', { class: 'looks::large' })).length).toBeLessThan(500);
  });

  test('no print method and no hook of the user is called', async () => {
    await prepare(
      session,
      '(progn (defclass looks::loops () ()) (defmethod print-object ((o looks::loops) s) (loop)))',
    );
    const loops = "(make-instance 'looks::loops)";
    await prepare(
      session,
      `(progn (eval \`(define-symbol-macro looks::hooked (list 'a ',${loops}))) (eval \`(declaim (ftype (function ((eql ,${loops})) t) looks::typed))) (eval \`(defclass looks::slotted () ((a :type (eql ,${loops}))))))`,
    );
    await prepare(
      session,
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (setf *macroexpand-hook* (lambda (&rest r) (declare (ignore r)) (loop))))))',
    );
    const describe = (symbol: string) => session.text('describe_symbol', { symbol });
    expect(await describe('looks::hooked')).toContain(
      '(LIST (QUOTE COMMON-LISP-USER::A) (QUOTE #<LOOKS::LOOPS>))',
    );
    expect(await session.text('who_references', { name: 'looks::hooked' })).toContain('LOOKS::HOOKED');
    expect(await arglist('looks::typed')).toContain('(FUNCTION ((MEMBER #<LOOKS::LOOPS>))');
    expect(await session.text('class_slots', { class: 'looks::slotted' })).toContain(
      ':TYPE (EQL #<LOOKS::LOOPS>)',
    );
    await prepare(
      session,
      "(sb-thread:join-thread (sb-thread:make-thread (lambda () (setf *macroexpand-hook* 'funcall))))",
    );
  });

  test('defaults are printed as they are written, on one line', async () => {
    await prepare(
      session,
      '(defun looks::with-forms (&key (a `(b ,looks:*unit*)) (c (loop for i in a collect i)) (d (quote (e . f)))) (list a c d))',
    );
    expect((await arglist('looks::with-forms')).split('\n')[0]).toBe(
      "LOOKS::WITH-FORMS (&KEY (A `(B ,*UNIT*)) (C (LOOP FOR I IN A COLLECT I)) (D '(E . F)))",
    );
  });
});

describe('what else can be called', () => {
  test('a macro has its macro lambda list', async () => {
    expect(await arglist('looks:with-unit')).toBe(`LOOKS::WITH-UNIT ((UNIT &KEY (TEST 'EQL)) &BODY BODY)
Kind: MACRO
Documentation: Evaluate BODY with another UNIT.`);
  });

  test('a special operator', async () => {
    expect(await arglist('quote')).toMatch(
      /^COMMON-LISP::QUOTE \(THING\)\nKind: SPECIAL OPERATOR\nDocumentation:/,
    );
  });

  test.each([
    [
      '(setf unit)',
      'LOOKS::(SETF UNIT) (NEW)\nKind: SETF FUNCTION\nType: (FUNCTION (T) (VALUES T &OPTIONAL))',
    ],
    ['(setf entry)', 'LOOKS::(SETF ENTRY) (TABLE KEY)\nKind: SETF EXPANDER'],
    ["#'(setf cell)", 'LOOKS::(SETF CELL) (CELL)\nKind: SETF EXPANDER'],
  ])('%s is called as such', async (symbol, text) => {
    expect(await arglist(symbol, { package: 'LOOKS' })).toBe(text);
  });

  test('a function with a setf form says so', async () => {
    expect((await arglist('looks::entry')).split('\n').at(-1)).toBe('Setf: LOOKS::(SETF ENTRY) (TABLE KEY)');
  });
});

describe('generic functions', () => {
  const AREA = `LOOKS::AREA (SHAPE &KEY SCALE)
Accepted by some method: (SHAPE &KEY SCALE OTHER)
Kind: GENERIC-FUNCTION
Type: (FUNCTION (T &KEY (:SCALE T) (:OTHER T)) *)
Documentation: Return how large SHAPE is.`;

  test('tell how many methods they have', async () => {
    expect(await arglist('looks:area')).toBe(`${AREA}\nMethods: 3; methods:true lists them`);
    expect((await arglist('looks::unmethodical', { methods: true })).split('\n').at(-1)).toBe(
      'Methods: none',
    );
  });

  test('with methods:true list each with qualifiers, specializers and lambda list', async () => {
    expect(await arglist('looks:area', { methods: true })).toBe(`${AREA}
Methods (3):
  ((SHAPE (EQL 7)) &KEY SCALE OTHER)
  :AROUND ((SHAPE (EQL LOOKS::UNIT)) &KEY SCALE)
  ((SHAPE LOOKS::SHAPE) &KEY (SCALE 1))`);
    expect((await arglist('looks:area', { methods: true, limit: 1 })).split('\n').slice(-2)).toEqual([
      '  ...',
      'Note: 3 methods; limit and offset reach the rest.',
    ]);
  });

  test('tell an unusual method combination', async () => {
    expect(await arglist('looks::total', { methods: true })).toBe(`LOOKS::TOTAL (THING)
Kind: GENERIC-FUNCTION
Type: (FUNCTION (T) *)
Method combination: COMMON-LISP::+ (:MOST-SPECIFIC-FIRST)
Methods (1):
  + ((THING COMMON-LISP::LIST))`);
  });

  test('a method on an object that cannot be printed shows its class and its identity', async () => {
    await prepare(session, '(progn (defclass looks::unprintable () ()) (defgeneric looks::on-object (x)))');
    const method = "(eval `(defmethod looks::on-object ((x (eql ',(make-instance 'looks::unprintable)))) x))";
    await prepare(session, `(dotimes (i 2) ${method})`);
    await prepare(session, '(defmethod print-object ((o looks::unprintable) s) (error "No."))');
    const [one, other] = (await arglist('looks::on-object', { methods: true })).split('\n').slice(-2);
    expect(one).toMatch(/^ {2}\(\(X \(EQL #<LOOKS::UNPRINTABLE \{[0-9A-F]+\}>\)\)\)$/);
    expect(other).toMatch(/^ {2}\(\(X \(EQL #<LOOKS::UNPRINTABLE \{[0-9A-F]+\}>\)\)\)$/);
    expect(one).not.toBe(other);
  });
});

describe('what is no function', () => {
  test.each([
    ['*unit*', 'LOOKS::*UNIT* is a variable, not a function.'],
    ['shape', 'LOOKS::SHAPE is a class, not a function.'],
    ['thing', 'LOOKS::THING is not defined as a function.'],
    ['unit', 'LOOKS::UNIT is not defined as a function.\nSetf: LOOKS::(SETF UNIT) (NEW)'],
    [
      'promised',
      'LOOKS::PROMISED is not defined as a function.\nType: (FUNCTION (FIXNUM) (VALUES STRING &REST T))\nDeclaimed: FTYPE',
    ],
  ])('C8 %s says what it is', async (symbol, text) => {
    const answer = await session.call('function_arglist', { symbol, package: 'LOOKS' });
    expect(answer).toEqual({ text, notices: [], isError: false });
  });

  test('C8 C9 S2.18 a name that is not there is told as by the other lookups', async () => {
    await expectLookup(session, 'function_arglist', 'symbol');
  });
});
