// What load_system does.

import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Answer, bad, good, warmCache } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const cache = sharedFolder();
/** A folder with systems of the user, which ASDF searches behind the workspace. */
const elsewhere = sharedFolder();
warmCache(cache.path);
const session = sharedSession({
  args: ['--root', root.path],
  env: { XDG_CACHE_HOME: cache.path, CL_SOURCE_REGISTRY: `${elsewhere.path}/:` },
});

const write = root.put;

/** Writes the system NAME with FILES (name and text) that depends on OTHERS. */
function system(name: string, files: Record<string, string>, others: string[] = []): void {
  const components = Object.keys(files).map((file) => `(:file "${file}")`);
  const needs = others.map((other) => `"${other}"`).join(' ');
  write(
    `${name}/${name}.asd`,
    `(asdf:defsystem "${name}" :depends-on (${needs}) :serial t :components (${components.join(' ')}))\n`,
  );
  for (const [file, text] of Object.entries(files)) write(`${name}/${file}.lisp`, text);
}

/** Writes FILES of the system NAME and its .asd anew, as if some seconds later: file times have a grain of a second in
 *  ASDF. */
function change(name: string, files: Record<string, string>): void {
  system(name, files);
  const later = new Date(Date.now() + 5000);
  for (const file of [`${name}.asd`, ...Object.keys(files).map((each) => `${each}.lisp`)])
    utimesSync(join(root.path, name, file), later, later);
}

function load(name: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return session.call('load_system', { system: name, ...more });
}

describe('a system', () => {
  // ASDF lists the workspace once, so what the tests load is there before the first of them.
  system('needed', { needed: '(defun needed () :needed)\n' });
  system('needing', { needing: '(defun needing () (list (needed)))\n' }, ['needed']);
  system('again', { again: '(defun again () :old)\n' });
  system('forced', { forced: '(defvar *times* 0)\n(incf *times*)\n' });
  system('vendored', { vendored: '(defvar *vendored* :copy)\n' });
  elsewhere.put('vendored.asd', '(asdf:defsystem "vendored" :components ())\n');
  system('silent', { silent: '' });
  system('over-silent', { over: '(defvar *over* t)\n' }, ['silent']);
  system('leaving', { leaving: '(defvar *leaving* t)\n', left: '(defvar *left* t)\n' });
  write(
    'prim/prim.asd',
    '(asdf:defsystem "prim" :components ())\n(asdf:defsystem "prim/tests" :components ((:file "tests")))\n',
  );
  write('prim/tests.lisp', '(defvar *tests* t)\n');

  test('of the workspace is loaded with what it needs, and both are told', async () => {
    expect(await load('needing')).toEqual(good('Loaded system needing, with needed'));
    expect(await session.eval('(needing)')).toBe('(:NEEDED)');
  });

  test('that is loaded already is told so, and what changed is loaded again', async () => {
    expect((await load('again')).text).toBe('Loaded system again');
    expect(await load('again')).toEqual(
      good('System again was loaded already, and none of its files has changed.'),
    );
    change('again', { again: '(defun again () :new)\n' });
    expect((await load('again')).text).toBe('Loaded system again');
    expect(await session.eval('(again)')).toBe(':NEW');
  });

  describe('with a file that defines only a generic function', () => {
    const text = (n: number) => `(defgeneric seen (x))\n(setf (get 'seen :file) ${n})\n`;
    const UNCHANGED = good('System silent was loaded already, and none of its files has changed.');
    const CHANGED = good('System silent was loaded already; changed files were loaded again.');
    const put = (n: number) => write('silent/silent.lisp', text(n));
    const seen = () => session.eval("(get 'seen :file)");

    test('is loaded again when that changes, and only then', async () => {
      put(0);
      await load('silent');
      expect(await seen()).toBe('0');
      expect(await load('silent')).toEqual(UNCHANGED);
      // This has most often the second of the fasl.
      put(1);
      expect(await load('silent')).toEqual(CHANGED);
      expect(await seen()).toBe('1');
      expect(await load('silent')).toEqual(UNCHANGED);
      put(2);
      const before = new Date(Date.now() - 3_600_000);
      utimesSync(join(root.path, 'silent', 'silent.lisp'), before, before);
      expect(await load('silent')).toEqual(CHANGED);
      expect(await seen()).toBe('2');
      expect(await load('silent')).toEqual(UNCHANGED);
    });

    test('is loaded again when that of a system that it needs changes', async () => {
      put(3);
      await load('over-silent');
      expect(await seen()).toBe('3');
      // ASDF reads the .asd again, and loads the fasl of this second again.
      system('silent', { silent: text(4) });
      expect(await load('over-silent')).toEqual(
        good('System over-silent was loaded already; changed files were loaded again.'),
      );
      expect(await seen()).toBe('4');
    });
  });

  test('tells which of its files are gone, which ASDF would not notice', async () => {
    expect(await load('leaving')).toEqual(good('Loaded system leaving'));
    rmSync(join(root.path, 'leaving', 'left.lisp'));
    expect(await load('leaving')).toEqual(
      good(
        'System leaving was loaded already, and none of its other files has changed.\n\nThe file leaving/left.lisp of system leaving is gone, so the system could not be loaded again. Restore the file, or remove it from the defsystem form of leaving.',
      ),
    );
  });

  test('is compiled and loaded again by force', async () => {
    await load('forced');
    await load('forced');
    expect(await session.eval('*times*')).toBe('1');
    expect((await load('forced', { force: true })).text).toBe('Loaded system forced');
    expect(await session.eval('*times*')).toBe('2');
  });

  test('that is loaded from the workspace, while another of its name is found, is told once', async () => {
    const { text } = await load('vendored');
    expect(text).toBe(
      `Loaded system vendored\n\nNote: vendored was loaded from vendored/vendored.asd; the other vendored, in ${elsewhere.path}/vendored.asd, is not used.`,
    );
    expect((await load('vendored', { force: true })).text).toBe('Loaded system vendored');
  });

  test('that was written after the first load is found too', async () => {
    system('newcomer', { newcomer: '(defvar *newcomer* t)\n' });
    expect((await load('newcomer')).text).toBe('Loaded system newcomer');
  });
});

describe('what a load writes', () => {
  system('wordy', { wordy: '(princ "no line end")\n(format *error-output* "an error line~%")\n' });

  test('comes with its answer, and no later one', async () => {
    const { text } = await load('wordy');
    expect(text).toMatch(/no line end/);
    expect(text).toMatch(/an error line/);
    expect(await session.call('eval_form', { form: '1' })).toEqual(good('1'));
    expect(await load('wordy')).toEqual(
      good('System wordy was loaded already, and none of its files has changed.'),
    );
  });
});

describe('a system that is not there', () => {
  write('misnamed/misnamed.asd', '(asdf:defsystem "misnamed-other" :components ())\n');
  write('blank/blank.asd', '; Nothing yet.\n');
  system('almost-this', { it: '1\n' });
  system('lacks', { lacks: '1\n' }, ['never-written-by-anyone']);

  test('is told with the nearest names', async () => {
    expect(await load('almost-thus')).toEqual(
      bad(
        expect.stringMatching(
          /^System almost-thus not found by ASDF\. Similar names: almost-this\b.*\. ASDF looks in /,
        ),
      ),
    );
  });

  test('and whose name is code is an error, and the next call works', async () => {
    const name = '#.(error "~a*")';
    const { text, isError } = await load(name);
    expect(isError).toBe(true);
    expect(text).toMatch(/ not found by ASDF\. /);
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });

  test('but whose file defines others is told with these', async () => {
    expect((await load('misnamed')).text).toBe(
      'System misnamed not found by ASDF. misnamed/misnamed.asd defines no such system, only misnamed-other. Name that system instead, or write the missing defsystem there.',
    );
    expect((await load('prim/checks')).text).toBe(
      'System prim/checks not found by ASDF. prim/prim.asd defines no such system, only prim, prim/tests. Name one of these instead, or write the missing defsystem there.',
    );
    expect((await load('blank')).text).toBe(
      'System blank not found by ASDF. blank/blank.asd defines no system. Write the missing defsystem there.',
    );
  });

  test('but that another needs is named', async () => {
    system('on-lacks', { it: '1\n' }, ['lacks']);
    const text = (asked: string, by = 'lacks') =>
      `System ${asked} was not loaded: ${by} needs never-written-by-anyone, which ASDF cannot find. No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. No library manager is in use; Quicklisp, qlot or ocicl is used if set up.`;
    for (const name of ['lacks', 'on-lacks']) expect(await load(name)).toEqual(bad(text(name)));
    write('a-b.asd', '(asdf:defsystem "a-b" :defsystem-depends-on ("never-written-by-anyone"))\n');
    expect((await load('a-b')).text).toContain(text('a-b', 'a-b.asd'));
    // Also by a file, behind others that were loaded.
    system('half', { one: '(defun half () (half-undefined))\n', two: '(asdf:load-system "lacks")\n' });
    expect((await load('half')).text).toMatch(/ lacks needs never-.*\n\nWarnings .*HALF-UNDEFINED/s);
  });

  test('of that version, or a file that is none, is told as ASDF tells it', async () => {
    write('too-old.asd', '(asdf:defsystem "too-old" :depends-on ((:version "almost-this" "7.1")))\n');
    write(
      'no-file.asd',
      '(asdf:defsystem "no-file" :components ((:file "first" :depends-on ("never-written"))))\n',
    );
    expect((await load('too-old')).text).toMatch(
      /^System too-old was not loaded to its end\.\n\nError: .*almost-this.*7\.1/s,
    );
    expect((await load('no-file')).text).toMatch(
      /^System no-file was not loaded to its end\.\n\nError: .*never-written.* not found/s,
    );
  });
});

describe('restarts that were chosen', () => {
  const config = '(defvar *loads* 0)\n(incf *loads*)\n(cerror "Go on." "Not configured.")\n';
  system('asking', { asking: config });
  system('parted', { parted: '(defstruct part size)\n', asks: config });

  test('are taken in a load that is done once', async () => {
    const { text } = await load('asking', { restarts: ['CONTINUE'] });
    expect(text).toBe('Loaded system asking\n\nTook the restart CONTINUE: Not configured.');
    expect(await session.eval('*loads*')).toBe('1');
  });

  test('are taken again in the second load that a changed structure needs', async () => {
    await load('parted', { restarts: ['CONTINUE'] });
    change('parted', { parted: '(defstruct part name size)\n', asks: config });
    const { text, isError } = await load('parted', { restarts: ['CONTINUE'] });
    expect(text).toContain(
      '\nTook the restart CONTINUE: attempt to redefine the STRUCTURE-OBJECT class PART incompatibly with the current definition\nTook the restart CONTINUE: Not configured.\n',
    );
    expect(isError).toBe(false);
    expect(await session.eval('(part-size (make-part :size 5))')).toBe('5');
  });
});

describe('what a load changes of living data', () => {
  const fleet = (slots: string, names: string) =>
    `(defstruct hull ${slots})\n(defclass quay () (${names}))\n(defvar *hulls* (list (make-hull) (make-hull)))\n(defvar *quay* (make-instance 'quay))\n`;
  system('fleet', { fleet: fleet('length', 'name') });

  test('is told also when a restart makes the load start again', async () => {
    await load('fleet');
    change('fleet', { fleet: fleet('length width', 'title') });
    const { text } = await load('fleet', { restarts: ['CONTINUE'] });
    expect(text).toContain(`
Classes whose slots changed: COMMON-LISP-USER::QUAY (new COMMON-LISP-USER::TITLE; gone COMMON-LISP-USER::NAME; 1 instance changes when next used).
The structure COMMON-LISP-USER::HULL changed; 2 instances still have the old layout. The structure's functions refuse them. Make them again.`);
  });
});

describe('a system with problems', () => {
  system('warned', {
    one: '(defun w-one (x) 1)\n',
    two: '\n(defun w-two () (w-undefined))\n',
  });
  system('warns-late', { late: "(defvar *late* 1)\n\n(compile nil '(lambda () (car 1)))\n" });
  system('stops', { first: '(defvar *first-there* t)\n', second: '(error "stopped in second")\n' });
  system('uncompiled', { fine: '(defvar *fine* t)\n', off: '\n\n(defun off () (let 5))\n' });
  system('unread', { open: '\n(defun open-ended (\n' });
  write('asd-error/asd-error.asd', '(error "no system here")\n');

  test('warnings are grouped by file, with line and definition', async () => {
    const { text, isError } = await load('warned');
    expect(isError).toBe(false);
    expect(text).toBe(
      'Loaded system warned\n\nWarnings (2):\n' +
        '  warned/two.lisp\n    STYLE-WARNING (line 2:17, DEFUN W-TWO): undefined function: COMMON-LISP-USER::W-UNDEFINED\n' +
        '      in (COMMON-LISP-USER::W-UNDEFINED)\n' +
        '  warned/one.lisp\n    STYLE-WARNING (line 1:1, DEFUN W-ONE): The variable X is defined but never used.',
    );
  });

  test('a warning of what is compiled while a fasl is loaded names the source file, and no line of the fasl', async () => {
    expect((await load('warns-late')).text).toBe(
      'Loaded system warns-late\n\nWarnings (1):\n' +
        '  warns-late/late.lisp\n    WARNING (LAMBDA NIL): Constant 1 conflicts with its asserted type LIST.\n' +
        '      in (CAR 1)',
    );
  });

  test('an error when it is loaded is the condition; the next load, after a correction, works', async () => {
    const { text, isError } = await load('stops');
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^System stops was not loaded to its end\.\n\nError: stopped in second\nType: COMMON-LISP::SIMPLE-ERROR/,
    );
    expect(await session.eval('*first-there*')).toBe('T');
    change('stops', { first: '(defvar *first-there* t)\n', second: '(defvar *second-there* t)\n' });
    expect((await load('stops')).text).toBe('Loaded system stops');
  });

  test('a form that cannot be compiled is told with its file and line', async () => {
    const { text, isError } = await load('uncompiled');
    expect(isError).toBe(true);
    expect(text).toContain('uncompiled/off.lisp');
    expect(text).toMatch(/ERROR \(line 3:15, DEFUN OFF\)/);
  });

  test('a file that cannot be read is told with its file and line', async () => {
    const { text, isError } = await load('unread');
    expect(isError).toBe(true);
    expect(text).toContain('unread/open.lisp');
    expect(text).toMatch(/line 2\b/);
  });

  test('an .asd file with an error in it is the condition', async () => {
    const { text, isError } = await load('asd-error');
    expect(isError).toBe(true);
    expect(text).toContain('no system here');
  });
});

system('clean', { clean: '(defvar *clean* t)\n' });

test('nothing is written beside the sources', async () => {
  await load('clean');
  expect(readdirSync(join(root.path, 'clean')).sort()).toEqual(['clean.asd', 'clean.lisp']);
});
