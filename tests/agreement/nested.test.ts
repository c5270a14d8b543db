// That what a file loads belongs to the file that it comes from, and is never taken for what the loading file has no more.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { libraries } from '../libraries.ts';
import { FORGET, forget, load, loaded, put, root, session, withPackageP } from './package-p.ts';

libraries('hunchentoot');
withPackageP();

/** Forms that make definitions of which SBCL knows no file, named for NAME. */
function unfiled(name: string): string[] {
  return [
    `(eval '(defmethod ${name}-evaluated ((x integer)) x))`,
    `(setf (fdefinition '${name}-given) #'identity)`,
    `(defclass ${name}-class () ((slot :accessor ${name}-slot)))`,
    `(defstruct ${name}-structure part)`,
    `(eval '(defvar *${name}-variable* 1))`,
    `(setf (symbol-function '${name}-compiled) (compile nil '(lambda () 1)))`,
  ];
}

/** Writes the system NAME, of one file with FORMS, that is new for each test. */
function system(name: string, ...forms: string[]): void {
  mkdirSync(join(root.path, name), { recursive: true });
  writeFileSync(join(root.path, name, `${name}.asd`), `(defsystem "${name}" :components ((:file "code")))\n`);
  writeFileSync(join(root.path, name, 'code.lisp'), `(in-package "P")\n${forms.join('\n')}\n`);
}

describe('a file that loads others', () => {
  const again = async (...forms: string[]) => {
    expect(await loaded('load.lisp', ...forms)).toMatch(/^Loaded load\.lisp/);
    return forget('load.lisp');
  };
  const known = (...names: string[]) =>
    session.eval(`(list ${names.map((name) => `(not (null (fboundp 'p::${name})))`).join(' ')})`);

  test.each([
    ['a system by ASDF', 'of-asdf', '(asdf:load-system "of-asdf")'],
    ['a file by LOAD', 'of-load', '(load (merge-pathnames "of-load/code.lisp" *load-truename*))'],
    [
      'a file that it compiles',
      'of-compile',
      '(load (compile-file (merge-pathnames "of-compile/code.lisp" *load-truename*)))',
    ],
  ])('has nothing of %s to forget', async (_, name, form) => {
    system(name, ...unfiled(name));
    // The second load loads nothing more.
    expect(await again('(require :asdf)', `(unless (fboundp '${name}-evaluated) ${form})`)).toBe(
      'Loaded load.lisp',
    );
    expect(
      await known(
        `${name}-evaluated`,
        `${name}-given`,
        `${name}-slot`,
        `make-${name}-structure`,
        `${name}-compiled`,
      ),
    ).toBe('(T T T T T)');
  });

  test('has nothing of a fasl that it loaded as source to forget', async () => {
    system('of-fasl', ...unfiled('of-fasl'));
    put(
      'outer.lisp',
      '(require :asdf)',
      `(unless (fboundp 'of-fasl-evaluated) (asdf:load-system "of-fasl"))`,
    );
    await loaded('load.lisp', '(load (merge-pathnames "outer.lisp" *load-truename*))');
    // SBCL says of what COMPILE made within the load of the fasl that outer.lisp has it.
    expect(await forget('outer.lisp')).toBe('Loaded outer.lisp');
    expect(await known('of-fasl-evaluated', 'of-fasl-compiled')).toBe('(T T)');
  });

  test('has nothing of libraries to forget', async () => {
    expect(
      await again(
        '(require :asdf)',
        '(unless (find-package "HUNCHENTOOT") (asdf:load-system "hunchentoot"))',
      ),
    ).toBe('Loaded load.lisp');
  });

  test('has nothing of what REQUIRE brings to forget', async () => {
    expect(await again('(unless (find-package "SB-CLTL2") (require :sb-cltl2))')).toBe('Loaded load.lisp');
    expect(await session.eval(`(fboundp (find-symbol "ENCLOSE" "SB-CLTL2"))`)).not.toBe('NIL');
  });

  test('forgets what it made itself without SBCL knowing where', async () => {
    system('beside', ...unfiled('beside'));
    await loaded(
      'load.lisp',
      '(load (merge-pathnames "beside/code.lisp" *load-truename*))',
      "(eval '(defmethod own ((x integer)) x))",
    );
    put('load.lisp', '(load (merge-pathnames "beside/code.lisp" *load-truename*))');
    expect(await forget('load.lisp')).toBe(
      'Loaded load.lisp\n\nRemoved, because no longer in the file: method P::OWN (COMMON-LISP::INTEGER).',
    );
    expect(await known('own', 'beside-evaluated', 'beside-compiled')).toBe('(NIL T T)');
  });

  test('has nothing of what a loaded file loads from a string to forget', async () => {
    system('of-string', `(with-input-from-string (in "(defun of-string () 1)") (load in))`);
    const form = (condition: string) =>
      `(unless ${condition} (load (merge-pathnames "of-string/code.lisp" *load-truename*)))`;
    await loaded('load.lisp', form("(fboundp 'of-string)"));
    await loaded('load.lisp', form('(find-symbol "OF-STRING")'));
    expect(await loaded('load.lisp')).toBe('Loaded load.lisp');
    expect(await forget('load.lisp')).toBe('Loaded load.lisp');
    expect(await known('of-string')).toBe('(T)');
  });

  test('has nothing of a file to forget that it reads and evaluates', async () => {
    system('by-hand', ...unfiled('by-hand'), '(defun by-hand () 1)');
    const hand = `(defun load-by-hand (path)
  (with-open-file (in path) (loop for form = (read in nil in) until (eq form in) do (eval form))))`;
    await loaded(
      'load.lisp',
      hand,
      '(load-by-hand (merge-pathnames (format nil "~A/code.lisp" "by-hand") *load-truename*))',
      '(by-hand)',
      "(eval '(defun own () 1))",
    );
    expect(await loaded('load.lisp', hand)).toBe(
      `Loaded load.lisp\n\nIn the image but no longer in load.lisp: function P::OWN.\n${FORGET}`,
    );
    await forget('load.lisp');
    expect(await known('own', 'by-hand', 'by-hand-evaluated', 'by-hand-slot', 'make-by-hand-structure')).toBe(
      '(NIL T T T T)',
    );
  });

  test('has what the loaded file no longer has told of that file', async () => {
    system('inner', "(eval '(defmethod stays ((x integer)) x))", "(eval '(defmethod goes ((x integer)) x))");
    const outer = '(load (merge-pathnames "inner/code.lisp" *load-truename*))';
    await loaded('load.lisp', outer);
    system('inner', "(eval '(defmethod stays ((x integer)) x))");
    expect(await load('load.lisp')).not.toContain('no longer in load.lisp');
  });
});
