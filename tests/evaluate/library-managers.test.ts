// What images do with Quicklisp, qlot and ocicl, which a person has set up: nothing, until something needs them. The
// managers here are small, with the packages and functions of the real ones that the program uses.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { good, type Session, type StartOptions, startSession, warmCache } from '../harness.ts';
import { restartedSession } from '../restarted.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

/** One cache for all homes. */
const cache = join(folder.path, 'cache');
warmCache(cache);

/** The home of a user and a workspace. */
interface Place {
  home: string;
  root: string;
}

function place(name: string): Place {
  const [home, root] = [join(folder.path, name, 'home'), join(folder.path, name, 'root')];
  for (const each of [home, root]) mkdirSync(each, { recursive: true });
  return { home, root };
}

function write(base: string, path: string, text: string): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Writes a system NAME below BASE that needs NEEDED, and has a function of its name. */
function system(base: string, name: string, needed: string[] = []): void {
  const needs = needed.map((each) => ` "${each}"`).join('');
  write(
    base,
    `${name}/${name}.asd`,
    `(defsystem "${name}" :depends-on (${needs}) :components ((:file "${name}")))\n`,
  );
  write(base, `${name}/${name}.lisp`, `(defun cl-user::${name} () :${name})\n`);
}

/** A manager: what it installed is below BASE/installed, and its dist has the system in-dist besides. */
function manager(base: string): string {
  return `(defpackage :ql-dist (:use :cl) (:export #:find-system))
(defun ql-dist:find-system (name) (find name '("in-dist") :test #'equal))
(defpackage :ql (:use :cl) (:export #:quickload #:*loaded-by*))
(defvar ql:*loaded-by* (file-namestring *load-truename*))
(defun ql:quickload (name) (list :quickload name))
(pushnew :quicklisp *features*)
(format t "~&; To load Quicklisp takes a line of output.~%")
(warn "And a warning.")
(setf *print-base* 10)
(defun ql-dist::searched (name)
  (first (directory (format nil "${base}/installed/*/~A.asd" name))))
(push 'ql-dist::searched asdf:*system-definition-search-functions*)
`;
}

/** Returns what starts a server in ROOT for a user of HOME, with FLAGS. */
function optionsOf({ home, root }: Place, ...flags: string[]): StartOptions {
  const data = join(home, '.local', 'share');
  const env = { HOME: home, XDG_DATA_HOME: data, XDG_CACHE_HOME: cache, CL_SOURCE_REGISTRY: '' };
  return { args: ['--root', root, ...flags], env };
}

async function using<T>(session: Session, use: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

const UNUSED = 'No library manager is in use; Quicklisp, qlot or ocicl is used if set up.';

describe('Quicklisp of the home', () => {
  const here = place('quicklisp');
  const { home, root } = here;
  const start = restartedSession(optionsOf(here));
  beforeEach(() => {
    rmSync(join(root, '.qlot'), { recursive: true, force: true });
    write(home, 'quicklisp/setup.lisp', manager(join(home, 'quicklisp')));
    system(join(home, 'quicklisp', 'installed'), 'from-quicklisp');
  });

  test('is not loaded by a start, nor by what needs no library', async () => {
    const session = await start();
    expect(await session.eval('(list (find-package :ql) (find :quicklisp *features*))')).toBe('(NIL NIL)');
  });

  test('is loaded by load_system of what needs a system of it, without a word of its own', async () => {
    system(root, 'mine', ['from-quicklisp']);
    const session = await start();
    expect(await session.call('load_system', { system: 'mine' })).toEqual(
      good('Loaded system mine, with from-quicklisp'),
    );
    expect(await session.eval('(list (mine) (from-quicklisp))')).toBe('(:MINE :FROM-QUICKLISP)');
    system(join(home, 'quicklisp', 'installed'), 'installed-later');
    expect(await session.text('load_system', { system: 'installed-later' })).toBe(
      'Loaded system installed-later',
    );
    expect(await session.eval('(asdf:component-name (asdf:find-system "installed-later"))')).toBe(
      '"installed-later"',
    );
  });

  test('is loaded when a form does not find a system', async () => {
    const session = await start();
    const form = '(progn (require :asdf) (funcall (intern "LOAD-SYSTEM" :asdf) "from-quicklisp"))';
    const { text, isError } = await session.call('eval_form', { form });
    expect([text.split('\n').at(-1), isError]).toEqual(['T', false]);
    expect(await session.eval('(from-quicklisp)')).toBe(':FROM-QUICKLISP');
  });

  test('is loaded when a form or a file names a package of it', async () => {
    const session = await start();
    expect(await session.eval('(ql:quickload "anything")')).toBe('(:QUICKLOAD "anything")');
    const file = write(root, 'load.lisp', '(defvar cl-user::*asked* (ql:quickload "in a file"))\n');
    await start();
    expect(await session.text('load_file', { path: file })).toBe('Loaded load.lisp');
    expect(await session.eval('*asked*')).toBe('(:QUICKLOAD "in a file")');
  });

  test('is loaded when a file of a system names it, by load_system', async () => {
    write(root, 'by-definition.asd', '(ql:quickload "x")\n(defsystem "by-definition")\n');
    const asks = '(defsystem "asks" :depends-on ("by-definition") :components ((:file "asks")))\n';
    write(root, 'asks.asd', asks);
    write(root, 'asks.lisp', '(defun cl-user::asks () (ql:quickload "in a function"))\n');
    const session = await start();
    const { text } = await session.call('load_system', { system: 'asks' });
    expect(text).not.toContain('QL');
    expect(await session.eval('(asks)')).toBe('(:QUICKLOAD "in a function")');
  });

  test('is loaded when a component names it, compiled or not, by a form that loads the system', async () => {
    write(root, 'asking.asd', '(defsystem "asking" :components ((:file "asking")))\n');
    write(root, 'asking.lisp', '(defun cl-user::asking () (list (ql:quickload "again")))\n');
    const load = (session: Session) => session.text('eval_form', { form: '(asdf:load-system "asking")' });
    await using(await startSession(optionsOf(here)), load);
    const session = await start();
    await load(session);
    expect(await session.eval('(asking)')).toBe('((:QUICKLOAD "again"))');
  });

  test('is there again after the image was lost', async () => {
    const session = await start();
    await session.text('eval_form', { form: '(defvar *asked* (ql:quickload "x"))' });
    await session.call('eval_form', { form: '(sb-ext:exit :abort t)' });
    expect(await session.eval('(list *asked* (ql:quickload "y"))')).toBe(
      '((:QUICKLOAD "x") (:QUICKLOAD "y"))',
    );
  });

  test('what it could install is named with the form that does it', async () => {
    system(root, 'mine', ['in-dist']);
    const session = await start();
    expect((await session.call('load_system', { system: 'mine' })).text).toBe(
      'System mine was not loaded: mine needs in-dist, which ASDF cannot find. Quicklisp can install it: evaluate (ql:quickload "mine").',
    );
    expect((await session.call('load_system', { system: 'in-dist' })).text).toBe(
      'System in-dist not found by ASDF. Quicklisp can install it: evaluate (ql:quickload "in-dist").',
    );
    expect((await session.call('load_system', { system: 'never-written' })).text).toBe(
      "System never-written not found by ASDF. No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. Quicklisp has no system of that name either.",
    );
  });

  test('is named by image_status, before it is needed and when it is loaded', async () => {
    const session = await start();
    await session.eval('1');
    const line = async () => /^Libraries: .*/m.exec(await session.text('image_status'))?.[0];
    const file = join(home, 'quicklisp', 'setup.lisp');
    expect(await line()).toBe(
      `Libraries: Quicklisp (${file}), loaded when a system or a form first needs it`,
    );
    await session.eval('(ql:quickload "x")');
    expect(await line()).toBe(`Libraries: Quicklisp (${file}), loaded`);
  });

  test('is loaded when a file that code loads names it', async () => {
    const file = write(root, 'inner.lisp', '(defvar cl-user::*asked* (ql:quickload "in a file"))\n');
    const session = await start();
    const form = `(load "${file}")`;
    const { text, isError } = await session.call('eval_form', { form });
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining('The file needs Quicklisp, which is loaded now: load the file again.'),
    ]);
    await session.text('eval_form', { form });
    expect(await session.eval('*asked*')).toBe('(:QUICKLOAD "in a file")');
  });

  test('gives way to qlot of the workspace, and to what --libraries says', async () => {
    write(
      root,
      '.qlot/setup.lisp',
      manager(join(root, '.qlot')).replace('file-namestring', 'directory-namestring'),
    );
    const loadedBy = (session: Session) => session.eval('ql:*loaded-by*');
    expect(await loadedBy(await start())).toBe(JSON.stringify(`${root}/.qlot/`));
    const startWith = (libraries: string) => startSession(optionsOf(here, '--libraries', libraries));
    expect(await using(await startWith('quicklisp'), loadedBy)).toBe('"setup.lisp"');
    await using(await startWith('none'), async (session) => {
      expect((await session.call('load_system', { system: 'from-quicklisp' })).text).toContain(UNUSED);
    });
  });

  test('that cannot be loaded is told with what is not found', async () => {
    write(home, 'quicklisp/setup.lisp', '(error "half installed")\n');
    system(root, 'mine', ['from-quicklisp']);
    const session = await start();
    expect((await session.call('load_system', { system: 'mine' })).text).toBe(
      `System mine was not loaded: mine needs from-quicklisp, which ASDF cannot find. No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. Quicklisp could not be loaded (${home}/quicklisp/setup.lisp): half installed`,
    );
  });
});

test('ocicl of the home is used too', async () => {
  const here = place('ocicl');
  const base = join(here.home, '.local', 'share', 'ocicl');
  write(base, 'ocicl-runtime.lisp', `(defpackage :ocicl-runtime (:use :cl))\n${manager(base)}`);
  system(join(base, 'installed'), 'from-ocicl');
  await using(await startSession(optionsOf(here)), async (session) => {
    expect(await session.text('load_system', { system: 'from-ocicl' })).toBe('Loaded system from-ocicl');
  });
});

describe('without a library manager', () => {
  const here = place('none');
  const { home, root } = here;
  const start = restartedSession(optionsOf(here));
  beforeEach(() => rmSync(join(home, '.sbclrc'), { force: true }));
  const BLOCK = `;;; The following lines added by ql:add-to-init-file:
#-quicklisp
(let ((quicklisp-init (merge-pathnames "quicklisp/setup.lisp"
                                       (user-homedir-pathname))))
  (when (probe-file quicklisp-init)
    (load quicklisp-init)))
`;
  const HINT =
    ' Images do not load ~/.sbclrc, which may add folders for ASDF. To load that file, ask the user to start live-lisp with --init ~/.sbclrc.';
  const PLACE = '(push #p"/opt/lisp/" asdf:*central-registry*)\n';

  const missing = (session: Session) => session.text('load_system', { system: 'never-written' });

  test.each([
    ['~/.sbclrc with more than one is named where a system is missing', `${BLOCK}${PLACE}`, HINT],
    ['~/.sbclrc with one only is not', `${BLOCK};; (in-package :cl-user)\n`, ''],
  ])('%s', async (_, text, hint) => {
    write(home, '.sbclrc', text);
    expect(await missing(await start())).toBe(
      `System never-written not found by ASDF. No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. ${UNUSED}${hint}`,
    );
  });

  const MAY_DEFINE =
    'Images do not load ~/.sbclrc, which may define the name. To load that file, ask the user to start live-lisp with --init ~/.sbclrc.';

  test('~/.sbclrc is named once where a function is missing', async () => {
    write(home, '.sbclrc', `${BLOCK}(defun shout () 1)\n`);
    const session = await start();
    const form = '(no-such-function-anywhere)';
    expect((await session.eval(form)).split('\n')).toContain(MAY_DEFINE);
    expect(await session.eval(form)).not.toContain('.sbclrc');
  });

  test('~/.sbclrc is not named where a similar name was meant, nor with a library manager only', async () => {
    write(home, '.sbclrc', `${BLOCK}(defun shout () 1)\n`);
    expect(await (await start()).eval("(mapcra #'1+ (list 1))")).not.toContain('.sbclrc');
    write(home, '.sbclrc', BLOCK);
    expect(await (await start()).eval('(no-such-function-anywhere)')).not.toContain('.sbclrc');
  });

  test('the answer says that none is used', async () => {
    system(root, 'mine', ['serapeum']);
    const session = await start();
    expect((await session.call('load_system', { system: 'mine' })).text).toBe(
      `System mine was not loaded: mine needs serapeum, which ASDF cannot find. No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. ${UNUSED}`,
    );
    expect(await session.eval('(ql:quickload "x")')).toBe(
      `Error: form 1 cannot be read: Package QL does not exist.\n${UNUSED}\nThe form begins at line 1, column 1; reading stopped at line 1, column 14. Nothing was evaluated.`,
    );
    expect(await session.eval('(quux:load "x")')).not.toContain(UNUSED);
    const inFile = write(root, 'asks.lisp', '(ql:quickload "x")\n');
    write(root, 'asks.asd', '(ql:quickload "x")\n(defsystem "asks")\n');
    write(root, 'has-asks.asd', '(defsystem "has-asks" :components ((:file "asks")))\n');
    for (const [tool, args] of [
      ['load_file', { path: inFile }],
      ['load_file', { path: inFile, check: true }],
      ['load_system', { system: 'asks' }],
      ['load_system', { system: 'has-asks' }],
    ] as const)
      expect(await session.text(tool, args)).toContain(`\n${UNUSED}\n`);
    write(root, 'asks.lisp', '(defun asks () 1)\n');
    expect(await session.text('load_file', { path: inFile })).not.toContain(UNUSED);
  });
});
