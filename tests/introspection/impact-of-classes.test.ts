// What impact_of_change tells of a class or structure whose slots, initialization arguments and functions change.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FIXTURES } from '../harness.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession();
beforeAll(async () => {
  expect(await session.text('load_file', { path: 'fixtures/impact-classes.lisp' })).toContain('Loaded');
});

const SOURCE = readFileSync(join(FIXTURES, 'impact-classes.lisp'), 'utf8').split('\n');

/** Returns a row for the place of TEXT in the line with WITHIN, and WHY it is there. */
function row(within: string, text: string, why: string, caller = ''): string {
  const index = SOURCE.findIndex((line) => line.includes(within));
  const line = SOURCE[index] ?? '';
  const at = `fixtures/impact-classes.lisp:${index + 1}:${line.indexOf(text) + 1}`;
  return `  ${[caller, at, line.trim(), why && `[${why}]`].filter(Boolean).join('  ')}`;
}

const impact = async (name: string, definition: string) =>
  (await session.text('impact_of_change', { name, package: 'impact-classes', definition })).split('\n\n');

const section = (parts: readonly string[], header: string) => parts.find((part) => part.startsWith(header));

describe('a class whose initarg goes', () => {
  const WITHOUT_B = '(defclass base () ((a :initarg :a :accessor base-a)))';

  test('tells where it and those below are made with that, and not where others take it', async () => {
    const parts = await impact('base', WITHOUT_B);
    const gone = (name: string) => `:B is no initarg of ${name} any more`;
    expect(section(parts, 'Uses of initargs')).toBe(
      [
        'Uses of initargs that would be gone (5):',
        row('defclass defaulted', '(defclass', ':B is a default initarg of it', 'IMPACT-CLASSES::DEFAULTED'),
        row('defun direct', "(make-instance 'base", gone('BASE')),
        row('defun below', "(make-instance 'kid", gone('KID')),
        row('defun found', '(make-instance', gone('BASE')),
        row('defun changed', '(change-class', gone('BASE')),
      ].join('\n'),
    );
    expect(section(parts, 'Uses of instances')).toBe(
      [
        'Uses of instances that cannot be checked (6):',
        row('defun computed', '(make-instance', 'its class is computed'),
        row('defun applied', '(apply', 'its arguments are computed'),
        row('defun quoted', "(make-instance 'base", 'in a backquote or as data'),
        row('defmacro made', "(make-instance 'base", 'in a backquote or as data'),
        row('defun slots', "(slot-value x 'b)", 'names a slot B'),
        row('defun with', '(with-slots', 'names a slot B'),
      ].join('\n'),
    );
  });

  test('tells that an accessor stays for other classes', async () => {
    const parts = await impact('base', WITHOUT_B);
    expect(section(parts, 'IMPACT-CLASSES::SHARED')).toBe(
      `IMPACT-CLASSES::SHARED would no longer take instances of it. Its uses (1):\n${row('defun use', '(shared x)', '', 'IMPACT-CLASSES::USE')}`,
    );
    expect(section(parts, 'IMPACT-CLASSES::PUT-B')).toBe(
      'IMPACT-CLASSES::PUT-B would be gone; no calls are known.',
    );
  });

  test('tells nothing when all of them stay', async () => {
    const parts = await impact(
      'base',
      '(defclass base () ((a :initarg :a :accessor base-a) (b :initarg :b :initarg :bb :accessor shared :writer put-b)))',
    );
    expect(section(parts, 'Uses of initargs')).toBeUndefined();
    expect(section(parts, 'Uses of instances')).toBeUndefined();
    expect(parts.join()).not.toContain('would');
  });
});

describe('a class with other superclasses', () => {
  const box = (superclasses: string, options = '(:default-initargs :size 3)') =>
    `(defclass box (${superclasses}) ((lid :initarg :lid)) ${options})`;
  const LOSS =
    'Instances of the class would lose the slots and initargs of these superclasses, and methods for these would no longer apply.';
  const gone = (key: string, name = 'BOX') => `:${key} is no initarg of ${name} any more`;

  test('tells where it and those below are made with what came from them', async () => {
    const parts = await impact('box', box(''));
    expect(parts[1]).toBe(
      `Superclasses that would be removed: IMPACT-CLASSES::THING, IMPACT-CLASSES::ROOT. ${LOSS}`,
    );
    expect(section(parts, 'Uses of initargs')).toBe(
      [
        'Uses of initargs that would be gone (5):',
        row('defclass box', '(defclass', ':SIZE is a default initarg of it', 'IMPACT-CLASSES::BOX'),
        row('defun boxes', "(make-instance 'box :title", gone('TITLE')),
        row('defun boxes', "(make-instance 'box :mark", gone('MARK')),
        row('defun boxes', "(make-instance 'box :weight", gone('WEIGHT')),
        row('defun crates', "(make-instance 'crate :title", gone('TITLE', 'CRATE')),
      ].join('\n'),
    );
    expect(section(parts, 'Uses of instances')).toContain('names a slot TITLE');
    expect(section(await impact('box', box('', '')), 'Uses of initargs')).not.toContain('default initarg');
  });

  test('tells only what goes, and what comes', async () => {
    const root = await impact('box', box('impact-classes::root'));
    expect(root[1]).toBe(`Superclasses that would be removed: IMPACT-CLASSES::THING. ${LOSS}`);
    expect(section(root, 'Uses of initargs')).not.toContain(':MARK');
    const more = await impact('box', box('sized thing'));
    expect(more[1]).toBe('Superclasses that would be added: IMPACT-CLASSES::SIZED');
    expect(section(more, 'Uses of initargs')).toBeUndefined();
  });

  test('tells which of those the image does not have', async () => {
    const parts = await impact('box', box('no-such-thing'));
    expect(parts[1]).toBe(
      'The image has no class no-such-thing, so it is not known what else would be lost or added. Define that class first, then ask again.',
    );
    expect(section(parts, 'Uses of initargs')).toBeUndefined();
  });
});

test('a condition whose initarg goes', async () => {
  const parts = await impact('trouble', '(define-condition trouble (error) ((why :initarg :why)))');
  expect(section(parts, 'Uses of initargs')).toBe(
    `Uses of initargs that would be gone (1):\n${row('defun raise', "(error 'trouble", ':HOW is no initarg of TROUBLE any more')}`,
  );
  expect(section(parts, 'Uses of instances')).toBe(
    `Uses of instances that cannot be checked (1):\n${row('defun told', '(error c', 'its class is computed')}`,
  );
});

describe('a structure', () => {
  test('whose slot goes: what those that include it have for that', async () => {
    const parts = await impact('point', '(defstruct point x)');
    expect(parts).toContain('Below, names without a package are in IMPACT-CLASSES.');
    expect(section(parts, 'POINT3-Y')).toMatch(/ would be gone\. Its uses \(1\):\n.*\(point3-y p\)/);
    expect(section(parts, '(SETF POINT-Y)')).toMatch(/ would be gone\. Its uses \(1\):\n.*defun set-y/);
    expect(section(parts, 'Calls that no longer fit MAKE-POINT3')).toContain(
      '[:Y is not one of its keywords]',
    );
    expect(section(parts, 'Calls that no longer fit MAKE-POINT ')).toBeUndefined();
  });

  test('with another layout: how to load it, and what to compile again', async () => {
    const changed = async (definition: string) => {
      const parts = await impact('point', definition);
      return [section(parts, 'This changes the layout'), section(parts, 'Compile these again')];
    };
    const reported = [
      'This changes the layout of the structure, so SBCL signals an error when the new definition is loaded: call load_file with restarts: ["CONTINUE"]. Existing instances cannot be used afterwards, and code compiled with the old layout must be compiled and loaded again.',
      'Compile these again, because the structure has another layout (2): IMPACT-CLASSES::POINTS, IMPACT-CLASSES::SET-Y',
    ];
    expect(await changed('(defstruct point w x y)')).toEqual(reported);
    expect(await changed('(defstruct point y x)')).toEqual(reported);
    expect(await changed('(defstruct (point (:include other)) x y)')).toEqual(reported);
    expect(await changed('(defstruct point "A point." (x 1) (y 2))')).toEqual([undefined, undefined]);
  });
});

test('a slot that can be set no more', async () => {
  const parts = await impact('point', '(defstruct point x (y nil :read-only t))');
  expect(section(parts, 'IMPACT-CLASSES::(SETF POINT-Y)')).toMatch(/ would be gone\. Its uses \(1\):\n/);
  expect(section(parts, 'IMPACT-CLASSES::POINT-Y')).toBeUndefined();
});

test('a method that takes a keyword less than the one in whose place it comes', async () => {
  const parts = await impact('keyed', '(defmethod keyed ((x integer) &key k) k)');
  expect(parts.slice(1, 3)).toEqual([
    'The lambda list of the generic function does not change, and calls must fit it (3 calls).',
    `Calls that no longer fit (1 of 3 calls):\n${row('keyed-calls', '(keyed 1 :l 2)', ':L is not one of its keywords', 'IMPACT-CLASSES::KEYED-CALLS')}`,
  ]);
  expect(await impact('keyed', '(defmethod keyed ((x symbol) &key k) k)')).toHaveLength(3);
});

test('a function that becomes a macro', async () => {
  const parts = await impact('plain', '(defmacro plain (x y) `(list ,x ,y))');
  expect(section(parts, 'Compile these again')).toBe(
    'Compile these again, because it becomes a macro (1): IMPACT-CLASSES::PLAIN-CALLS',
  );
});

test('a macro whose parameters are lists', async () => {
  const unfit = async (list: string) =>
    (
      await session.text('impact_of_change', {
        name: 'nest',
        package: 'impact-classes',
        lambda_list: list,
      })
    ).split('\n\n')[1];
  expect(await unfit('((name value more) &body body)')).toMatch(
    /^Calls that no longer fit \(2 of 2 calls\):\n.*\[argument 1: 2 arguments, at least 3 needed\]\n/,
  );
  expect(await unfit('((name &optional value) &body body)')).toBe('2 calls with known arguments: all fit.');
  expect(await unfit('(name (value) &body body)')).toMatch(
    /^Calls that no longer fit \(2 of 2 calls\):\n.*\[argument 2 is no list\]\n.*\[1 argument, at least 2 needed\]/,
  );
  expect(await unfit('(&key value)')).toMatch(
    /^Calls that no longer fit \(2 of 2 calls\):\n.*\[a list stands where a keyword is needed\]\n/,
  );
});

test('a metaclass with readers that fail hides no class', async () => {
  const forms = [
    '(defclass fails (standard-class) ())',
    '(defmethod sb-mop:validate-superclass ((one fails) (other standard-class)) t)',
    '(defclass above () ((a :initarg :a)))',
    '(defclass below (above) ((s :initarg :s)) (:default-initargs :a 3) (:metaclass fails))',
    "(sb-mop:finalize-inheritance (find-class 'below))",
    '(defmethod sb-mop:class-direct-default-initargs ((class fails)) (error "no initargs"))',
  ];
  await session.eval(`(progn ${forms.join('\n')} t)`);
  expect(await session.text('class_slots', { class: 'below' })).toBe(
    'COMMON-LISP-USER::BELOW [CLASS]\n\nDirect slots (1):\n\n  COMMON-LISP-USER::S  :INITARG :S\n\n' +
      'Inherited slots (1):\n\n  COMMON-LISP-USER::A  (from COMMON-LISP-USER::ABOVE)  :INITARG :A',
  );
  expect(await session.text('impact_of_change', { name: 'above' })).toContain(
    'Subclasses (1):\n  COMMON-LISP-USER::BELOW  no source',
  );
  await session.eval('(defmethod sb-mop:class-direct-slots ((class fails)) (error "no slots"))');
  expect(await session.text('impact_of_change', { name: 's' })).toBe(
    'COMMON-LISP-USER::S is not defined as a function. It is not a class either, so its dependents are unknown; search_in_buffer finds its name.',
  );
});
