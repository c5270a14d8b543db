// That a load gives a generic function the lambda list that its files say, although the image has methods with another.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compare, load, loaded, put, root, session, withPackageP } from './package-p.ts';

withPackageP();

const TAKEN = 'Removed from the image, because the lambda list of the generic function changed: ';
const DEFINE = '. Define each with the new arguments.';

describe('what a file says alone', () => {
  test('is taken, with another required argument', async () => {
    await loaded(
      'e.lisp',
      '(defgeneric f (x))',
      '(defmethod f ((x integer)) 1)',
      '(defmethod f ((x string)) 2)',
    );
    expect(
      await loaded(
        'e.lisp',
        '(defgeneric f (x y))',
        '(defmethod f ((x integer) y) (list x y))',
        '(defmethod f ((x string) y) (list x y))',
      ),
    ).toBe('Loaded e.lisp');
    expect(await session.eval('(list (p::f 1 2) (p::f "a" 2))')).toBe('((1 2) ("a" 2))');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
  });

  test('is taken without a DEFGENERIC, and with one that comes last', async () => {
    await loaded('e.lisp', '(defmethod f ((x integer)) x)', '(defmethod f :after ((x string)) x)');
    expect(
      await loaded(
        'e.lisp',
        '(defmethod f ((x integer) y) (+ x y))',
        '(defmethod f :after ((x string) y) y)',
      ),
    ).toBe('Loaded e.lisp');
    expect(await session.eval('(p::f 1 2)')).toBe('3');
    await loaded('g.lisp', '(defmethod g ((x integer)) x)', '(defgeneric g (x))');
    expect(
      await loaded('g.lisp', '(defmethod g ((x integer) &key (y x)) y)', '(defgeneric g (x &key))'),
    ).toBe('Loaded g.lisp\n\nRedefined: P::G in DEFGENERIC');
    expect(await session.eval('(p::g 5)')).toBe('5');
  });

  test('is taken where a function or a macro was', async () => {
    await loaded('e.lisp', '(defun f (x) x)');
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) (1+ x))');
    expect(await session.eval('(p::f 1)')).toBe('2');
    await loaded('e.lisp', '(defmacro h (x) x)');
    await loaded('e.lisp', '(defmethod h ((x integer)) (1+ x))');
    expect(await session.eval('(p::h 1)')).toBe('2');
  });
});

describe('what is lost by that', () => {
  test('is told of the load that it made way for', async () => {
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) 1)');
    await loaded('m.lisp', '(defmethod f ((x string)) 2)', '(defmethod f :around ((x (eql 3))) 3)');
    await session.eval('(defmethod p::f ((x symbol)) 4)');
    const changed = ['(defgeneric f (x y))', '(defmethod f ((x integer) y) y)'];
    const ofFile = 'methods P::F (COMMON-LISP::STRING), P::F :AROUND ((EQL 3)) of m.lisp';
    expect(await loaded('e.lisp', ...changed)).toBe(
      `Loaded e.lisp\n\n${TAKEN}${ofFile}; method P::F (COMMON-LISP::SYMBOL) that no file has${DEFINE}`,
    );
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    expect(await compare('m.lisp')).toContain('P::F (COMMON-LISP::STRING)');
    expect(await loaded('m.lisp', '(defmethod f ((x string) y) y)')).toBe('Loaded m.lisp');
    expect(await session.eval('(p::f "a" 2)')).toBe('2');
  });

  test('is told of a load that fails then', async () => {
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) 1)');
    put('e.lisp', '(defgeneric f (x y))', '(error "No.")', '(defmethod f ((x integer) y) y)');
    const { text, isError } = await session.call('load_file', { path: 'e.lisp' });
    expect(isError).toBe(true);
    expect(text).toContain('Error: No.');
    expect(text).toContain(`${TAKEN}method P::F (COMMON-LISP::INTEGER) of e.lisp${DEFINE}`);
  });
});

describe('what contradicts itself', () => {
  test('is an error, as it is in a fresh image', async () => {
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) 1)');
    const text = await loaded('e.lisp', '(defgeneric f (x y))', '(defmethod f ((x integer)) 1)');
    expect(text).toContain('the method has fewer required arguments than the generic function');
    await loaded('i.lisp', '(defmethod i ((x integer)) 1)', '(defmethod i ((x string)) 1)');
    const mixed = await loaded('i.lisp', '(defmethod i ((x integer) y) y)', '(defmethod i ((x string)) 1)');
    expect(mixed).toContain('Error: The generic function #<STANDARD-GENERIC-FUNCTION P::I (1)> takes 2');
  });

  test('is what two files say of one function, of which nothing is taken out', async () => {
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) 1)', '(defun g (x) x)');
    expect(await loaded('m.lisp', '(defmethod f ((x string) y) y)')).toContain(
      'Error: The generic function #<STANDARD-GENERIC-FUNCTION P::F (1)> takes 1 required argument',
    );
    expect(await session.eval('(p::f 1)')).toBe('1');
    expect(await loaded('m.lisp', '(defgeneric g (x))')).toContain(
      'Error: P::G already names an ordinary function or a macro.',
    );
    expect(await session.eval('(p::g 1)')).toBe('1');
  });

  test('is an evaluation, for its user to decide', async () => {
    await loaded('e.lisp', '(defgeneric f (x))', '(defmethod f ((x integer)) 1)');
    const { text } = await session.call('eval_form', { form: '(defgeneric p::f (x y))' });
    expect(text).toContain('CONTINUE: Remove all methods.');
    expect(await session.eval('(p::f 1)')).toBe('1');
  });
});

test('a system is loaded with what has changed in all of its files', async () => {
  const folder = join(root.path, 'shapes');
  mkdirSync(folder, { recursive: true });
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
  file('shapes.asd', '(defsystem "shapes" :serial t :components ((:file "one") (:file "two")))');
  file('one.lisp', '(in-package "P") (defgeneric area (x)) (defmethod area ((x integer)) x)');
  file('two.lisp', '(in-package "P") (defmethod area ((x string)) 0)');
  await session.call('eval_form', { form: `(require :asdf) (push #p"${folder}/" asdf:*central-registry*)` });
  expect(await session.text('load_system', { system: 'shapes' })).toBe('Loaded system shapes');
  file('one.lisp', '(in-package "P") (defgeneric area (x y)) (defmethod area ((x integer) y) (* x y))');
  file('two.lisp', '(in-package "P") (defmethod area ((x string) y) y)');
  const { text, isError } = await session.call('load_system', { system: 'shapes', force: true });
  expect(isError, text).toBe(false);
  expect(text).not.toContain('Taken out');
  expect(await session.eval('(list (p::area 2 3) (p::area "a" 3))')).toBe('(6 3)');
});
