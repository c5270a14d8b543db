// Systems are loaded, and errors in loads told, alike by SBCL's own ASDF, by a newer one that the source registry has, and
// by one that the user's init file loads.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  good,
  LIBRARIES_AS_COMPILED,
  type Session,
  startSession,
  temporaryFolder,
  testSbcl,
} from '../harness.ts';
import { NEWER_ASDF } from '../libraries.ts';
import { sharedFolder } from '../shared.ts';

const own = sharedFolder();

/** Has SBCL's own ASDF compile the newer one, and returns the fasl. What has no sandbox uses the same. */
function compiledNewer(): string {
  const fasl = `(asdf:apply-output-translations ${JSON.stringify(join(NEWER_ASDF, 'build/asdf.fasl'))})`;
  const forms = [
    '(require :asdf)',
    '(asdf:upgrade-asdf)',
    `(format t "~&fasl: ~A~%" (uiop:native-namestring ${fasl}))`,
  ];
  const said = execFileSync(
    testSbcl(),
    ['--noinform', '--non-interactive', '--no-userinit', ...forms.flatMap((form) => ['--eval', form])],
    { env: { ...process.env, CL_SOURCE_REGISTRY: `${NEWER_ASDF}/:` }, encoding: 'utf8', stdio: 'pipe' },
  );
  return /^fasl: (.+)$/m.exec(said)?.[1] ?? 'none';
}

/** Returns the arguments by which an image loads its ASDF from an init file, from where SBCL has none. */
function withInitFile(): string[] {
  const init = join(own.path, 'init.lisp');
  writeFileSync(init, `(load ${JSON.stringify(compiledNewer())})\n`);
  return ['--init', init];
}

// An ASDF that is installed here would be everybody's.
const INSTALLED = '(:source-registry (:also-exclude "cl-asdf") :inherit-configuration)';
const ASDFS: [string, () => string[], string, string][] = [
  ["SBCL's own ASDF", () => [], INSTALLED, '(T NIL)'],
  ['a newer ASDF in the source registry', () => [...LIBRARIES_AS_COMPILED], `${NEWER_ASDF}/:`, '(NIL T)'],
  ['an ASDF that the init file loads', withInitFile, INSTALLED, '(NIL T)'],
];

describe.each(ASDFS)('with %s', (_, args, registry, which) => {
  const root = temporaryFolder();
  let session: Session;
  afterAll(async () => {
    await session.close();
    root.remove();
  });

  const write = root.put;

  const load = (system: string) => session.call('load_system', { system });

  beforeAll(async () => {
    write('failing.asd', '(defsystem "failing" :components ((:file "failing")))');
    write('failing.lisp', '(in-package :cl-user)\n(error "At load.")\n');
    write(
      'hooked.asd',
      '(defsystem "hooked")\n(defmethod perform ((o test-op) (s (eql (find-system "hooked")))) (error "In the test."))\n',
    );
    write(
      'many/many.asd',
      '(asdf:defsystem "many-core" :components ((:file "core")))\n(asdf:defsystem :many-use :depends-on ("many-core") :components ((:file "use")))\n(asdf:defsystem "many")\n',
    );
    write('many/core.lisp', '(defvar *core* t)\n');
    write('many/use.lisp', '(defvar *use* t)\n');
    write(
      'odd/all.asd',
      '(in-package :asdf-user)\n(defsystem #:odd-one)\n(defsystem #:odd-one/part :components ((:file "part")))\n',
    );
    write('odd/part.lisp', '(defvar *part* t)\n');
    write('outside.asd', '(asdf:defsystem "outside" :depends-on ("many-core"))\n');
    write('mentions/mentions.asd', '(asdf:defsystem "mentions" :depends-on ("only-mentioned"))\n');
    write('CamelCase.asd', '(asdf:defsystem "CamelCase" :components ((:file "camel")))\n');
    write('camel.lisp', '(defvar *camel* t)\n');
    for (const each of ['one', 'other']) {
      write(`same-${each}/tests.asd`, `(asdf:defsystem "${each}-tests" :components ((:file "${each}")))\n`);
      write(`same-${each}/${each}.lisp`, `(defvar *of-${each}* t)\n`);
    }
    write(
      'in-need/in-need.asd',
      '(asdf:defsystem "in-need" :depends-on ("other-tests" "one-tests") :components ((:file "need")))\n',
    );
    write('in-need/need.lisp', '(defvar *in-need* *of-other*)\n');
    write('named/named.asd', '(asdf:defsystem "named")\n(asdf:defsystem "named-badly")\n');
    session = await startSession({
      args: ['--root', root.path, ...args()],
      env: { CL_SOURCE_REGISTRY: registry },
    });
  });

  test('frames of SBCL and its libraries are one line, and a restart that reads the same is told once', async () => {
    const { text } = await load('failing');
    expect(text).toMatch(
      /\n\nFrames:\n {2}0: \(#<top-level form>\) {2}failing\.lisp:2:1\n {2}\.\.\. \d+ frames of SBCL and its libraries(\n\n|$)/,
    );
    expect(text.split('CLEAR-CONFIGURATION-AND-RETRY').length).toBe(2);
  });

  test('a method that a system defines for a function of ASDF is a frame of its own', async () => {
    await load('hooked');
    const { text } = await session.call('eval_form', { form: '(asdf:test-system "hooked")' });
    expect(text).toMatch(/\n\nFrames:\n {2}0: \(\(:METHOD ASDF\/ACTION:PERFORM /);
    expect(text).toMatch(/\n {2}\.\.\. \d+ frames of SBCL and its libraries(\n|$)/);
  });

  test('where all frames are of SBCL and its libraries, the newest are told', async () => {
    const { text } = await session.call('eval_form', { form: '(asdf:load-system :no-such-system)' });
    expect(text).toMatch(
      /\n\nFrames:\n {2}0: .*\n {2}1: .*\n {2}2: .*\n {2}3: .*\n {2}\.\.\. \d+ frames of SBCL and its libraries/,
    );
  });

  test('a system in a file of another name is found by itself, and what needs it too', async () => {
    expect((await load('many-use')).text).toMatch(/^Loaded system many-use\b/);
    expect(await session.eval('(list *core* *use*)')).toBe('(T T)');
    expect((await load('outside')).text).toMatch(/^Loaded system outside\b/);
    expect((await load('odd-one/part')).text).toMatch(/^Loaded system odd-one\/part\b/);
    expect((await load('odd-one/part')).text).toMatch(/^System odd-one\/part was loaded already/);
  });

  test('a system of which a file only says that it needs it is not found', async () => {
    expect((await load('only-mentioned')).text).toMatch(/^System only-mentioned not found by ASDF\. /);
  });

  test('a system of another case is found', async () => {
    expect((await load('camelcase')).text).toMatch(/^Loaded system camelcase\b(?!.*not found)/);
    expect(await session.eval('*camel*')).toBe('T');
    expect(await session.text('compare_image', { system: '#:CamelCase' })).toBe(
      'The image and system #:CamelCase agree.',
    );
  });

  test('a system is found where two files in different folders have one name', async () => {
    expect((await load('in-need')).text).toMatch(/^Loaded system in-need, with one-tests, other-tests/);
    expect(await session.eval('(list *of-one* *of-other*)')).toBe('(T T)');
  });

  test('no answer has a warning about the name of a system', async () => {
    for (const name of ['named', 'named-badly', 'many-use', 'outside']) {
      const { text, notices } = await load(name);
      expect(text).not.toMatch(/contains definition for system|just-done stamp/);
      expect(notices).toEqual([]);
    }
    expect(await session.call('eval_form', { form: '(null (asdf:find-system :named-badly))' })).toEqual(
      good('NIL'),
    );
  });

  test('that ASDF is the one in use', async () => {
    const form = `(let ((file (sb-introspect:definition-source-pathname (sb-introspect:find-definition-source #'asdf:load-system))))
      (list (eql 0 (search "SYS:" (namestring file))) (uiop:version< "3.3.2" (asdf:asdf-version))))`;
    await session.eval('(require :sb-introspect)');
    expect(await session.eval(form)).toBe(which);
  });
});
