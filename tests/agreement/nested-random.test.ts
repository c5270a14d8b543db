// Files at random that load each other in every way, loaded, edited and loaded again. Forgetting what one file no longer
// has removes just that, as in a plain SBCL that loads the same texts in the same order, and so it is in a rebuilt image.

import { execFileSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED, testSbcl } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { restartedSession } from '../restarted.ts';
import { sharedFolder } from '../shared.ts';
import { EVERYTHING } from './random-file.ts';

const FILES = 4;

/** Forms that each make something under NAME, of which SBCL keeps the file. VALUE is another in an edited form. */
const FILED: ((name: string, value: number) => string)[] = [
  (name, value) => `(defun ${name} () ${value})`,
  (name) => `(defmacro ${name} () 1)`,
  (name) => `(defvar *${name}* 1)`,
  (name) => `(defparameter *${name}* 1)`,
  (name) => `(defclass ${name} () ((part :accessor ${name}-part)))`,
  (name) => `(defstruct ${name} part)`,
  (name) => `(define-condition ${name} (error) ())`,
  (name) => `(defgeneric ${name} (x) (:method ((x integer)) x))`,
  (name) => `(defmethod common ((x (eql '${name}))) x)`,
  (name) => `(define-two ${name})`,
  (name, value) => `(unless (fboundp '${name}) (defun ${name} () ${value}))`,
  (name, value) => `(unless (find-class '${name} nil) (defclass ${name} () ((part :initform ${value}))))`,
  (name, value) => `(defvar *${name}* (progn (defun ${name} () 1) ${value}))`,
  (name, value) => `(define-once ${name} ${value})`,
];

/** Forms that each make something under NAME, of which SBCL keeps no file or not the form. */
const UNFILED: ((name: string, value: number) => string)[] = [
  (name) => `(eval '(defun ${name} () 1))`,
  (name) => `(eval '(defvar *${name}* 1))`,
  (name) => `(eval '(defmethod common ((x (eql '${name}))) x))`,
  (name) => `(setf (fdefinition '${name}) #'identity)`,
  (name) => `(setf (symbol-function '${name}) (compile nil '(lambda () 1)))`,
  (name, value) => `(unless (fboundp '${name}) (eval '(defun ${name} () ${value})))`,
  (name, value) =>
    `(unless (find-class '${name} nil) (eval '(defclass ${name} () ((part :initform ${value})))))`,
  (name, value) => `(make-once '${name} ${value})`,
  (name, value) => `(with-input-from-string (in "(defun ${name} () ${value})") (load in))`,
];

/** The number in LOADERS of the form that reads a file and evaluates its forms. */
const BY_HAND = 0;

/** The ways in which a file loads the file of NUMBER. */
const LOADERS: ((number: number) => string)[] = [
  (number) => `(load-by-hand (merge-pathnames "f${number}.lisp" cl-user::*here*))`,
  (number) => `(load (merge-pathnames "f${number}.lisp" cl-user::*here*))`,
  (number) => `(load (compile-file (merge-pathnames "f${number}.lisp" cl-user::*here*)))`,
  (number) => `(asdf:load-system "s${number}")`,
  (number) =>
    `(unless (fboundp 'is-loaded${number}) (load (merge-pathnames "f${number}.lisp" cl-user::*here*)))`,
  (number) => `(mapc #'load (list (merge-pathnames "f${number}.lisp" cl-user::*here*)))`,
  (number) =>
    `(eval-when (:compile-toplevel :load-toplevel :execute)
  (load (merge-pathnames "f${number}.lisp" cl-user::*here*)))`,
];

/** What one text of a file has: its definitions by number of their maker, their value, and the later files that it loads,
 *  each with the number of the way. */
interface Content {
  value: number;
  filed: number[];
  unfiled: number[];
  loaded: [file: number, way: number][];
}

const content = (file: number): fc.Arbitrary<Content> =>
  fc.record({
    value: fc.nat({ max: 1 }),
    filed: fc.uniqueArray(fc.nat({ max: FILED.length - 1 }), { maxLength: 4 }),
    unfiled: fc.uniqueArray(fc.nat({ max: UNFILED.length - 1 }), { maxLength: 3 }),
    loaded: fc.uniqueArray(
      fc.tuple(
        fc.integer({ min: file + 1, max: Math.max(file + 1, FILES - 1) }),
        fc.nat({ max: LOADERS.length - 1 }),
      ),
      { selector: ([number]) => number, minLength: file === 0 ? 1 : 0, maxLength: file < FILES - 1 ? 3 : 0 },
    ),
  });

const CONTENTS = fc.tuple(...Array.from({ length: FILES }, (_, file) => content(file)));

interface Systems {
  first: Content[];
  second: Content[];
  alone: number;
}

/** Two texts of each file, and the file that is loaded alone at the end. */
const SYSTEMS: fc.Arbitrary<Systems> = fc.record({
  first: CONTENTS,
  second: CONTENTS,
  alone: fc.integer({ min: 1, max: FILES - 1 }),
});

function textOf(file: number, { value, filed, unfiled, loaded }: Content): string {
  const forms = [
    ...filed.map((maker) => FILED[maker]?.(`of${file}-${maker}`, value) ?? ''),
    ...unfiled.map((maker) => UNFILED[maker]?.(`of${file}-unfiled${maker}`, value) ?? ''),
  ];
  const loads = loaded.map(([number, way]) => LOADERS[way]?.(number) ?? '');
  return [
    '(in-package "RT")',
    ...loads.slice(1),
    `(defun is-loaded${file} ())`,
    ...forms,
    ...loads.slice(0, 1),
    '',
  ].join('\n');
}

const PACKAGE = `(eval-when (:compile-toplevel :load-toplevel :execute) (require :asdf))
(defpackage "RT" (:use "CL"))
(in-package "RT")
(defgeneric common (x))
(defmacro define-two (name)
  \`(progn (defun ,name () 1) (defvar ,(intern (format nil "*~A*" name)) 2)))
(defmacro define-once (name value) \`(unless (fboundp ',name) (defun ,name () ,value)))
(defun make-once (name value) (unless (fboundp name) (eval \`(defun ,name () ,value))))
(defun load-by-hand (path)
  (let ((*package* *package*))
    (with-open-file (in path) (loop for form = (read in nil in) until (eq form in) do (eval form)))))
(defparameter cl-user::*here* (make-pathname :name nil :type nil :version nil :defaults *load-truename*))
(push cl-user::*here* asdf:*central-registry*)
`;

/** Writes CONTENTS as the files in FOLDER: with the time 0 as old files, with the time 1 as files that are newer than
 *  what ASDF has compiled meanwhile, also within the same second. */
function write(folder: string, contents: Content[], n: number): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.lisp'), PACKAGE);
  for (const [file, each] of contents.entries()) {
    const path = join(folder, `f${file}.lisp`);
    writeFileSync(path, textOf(file, each));
    const at = Date.now() / 1000 + (2 * n - 1) * 1000;
    utimesSync(path, at, at);
    writeFileSync(join(folder, `s${file}.asd`), `(defsystem "s${file}" :components ((:file "f${file}")))\n`);
  }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('bound'));

/** Returns what a plain SBCL has of the package once it has done FORMS. */
function plain(...forms: string[]): string[] {
  const quiet = forms.map(
    (form) =>
      `(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream))) ${form})`,
  );
  const code = [...quiet, `(format t "~%~A" ${EVERYTHING})`].flatMap((form) => ['--eval', form]);
  return linesOf(
    execFileSync(testSbcl(), ['--noinform', '--no-userinit', '--non-interactive', ...code], {
      encoding: 'utf8',
    }),
  );
}

/** Returns the forms by which a plain SBCL loads FILES in FOLDER, whatever it loaded from another folder before. */
function loading(folder: string, ...files: number[]): string[] {
  return [
    `(load "${folder}/package.lisp")`,
    `(dotimes (n ${FILES}) (asdf:clear-system (format nil "s~D" n)))`,
    ...files.map((file) => `(load "${folder}/f${file}.lisp")`),
  ];
}

const ofFile = (file: number, line: string) => line.includes(`OF${file}-`);

const root = sharedFolder();
const start = restartedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

let runs = 0;
async function check({ first, second, alone }: Systems): Promise<void> {
  runs += 1;
  const session = await start();
  const load = async (name: string) => {
    const path = `run${runs}/${name}`;
    const answers = [
      await session.call('load_file', { path, forget: true }),
      // Removes what the first has listed. A form that loads another file then does so again.
      await session.call('load_file', { path, forget: true }),
    ];
    for (const { text, isError } of answers) expect(isError, text).toBe(false);
    return answers.map(({ text }) => text).join('\n');
  };
  const everything = async () =>
    linesOf(String(JSON.parse((await session.eval(EVERYTHING)).replace(/\n/g, '\\n'))));
  const folderOf = (name: string) => join(root.path, `${name}${runs}`);
  const [folder, old, current] = [folderOf('run'), folderOf('old'), folderOf('new')];
  const said = [first, second].map((contents) => contents.map((each, file) => textOf(file, each)).join('\n'));
  write(folder, first, 0);
  write(old, first, 0);
  write(current, second, 1);

  await load('package.lisp');
  await load('f0.lisp');
  expect(await everything(), said[0]).toEqual(plain(...loading(old, 0)));
  const unchanged = /no longer in run\d+\/f0|Removed/;
  expect(await load('f0.lisp'), said[0]).not.toMatch(unchanged);

  write(folder, second, 1);
  const forgot = `${said.join('\n---\n')}\n${await load('f0.lisp')}`;
  const still = plain(...loading(current, 0));
  const kept = (line: string) => !ofFile(0, line) || still.includes(line);
  expect(await everything(), forgot).toEqual(plain(...loading(old, 0), ...loading(current, 0)).filter(kept));

  const forgotAlone = `${forgot}\n${await load(`f${alone}.lisp`)}`;
  const has = plain(...loading(current, 0, alone));
  // What another file loaded is not known to have made what SBCL keeps no file of, nor what a form read by hand, and what
  // is in doubt stays.
  const byHand = first.some(({ loaded }) => loaded.some(([, way]) => way === BY_HAND));
  const inDoubt = `OF${alone}-${byHand ? '' : 'UNFILED'}`;
  const isSure = (line: string) => has.includes(line) || !line.includes(inDoubt);
  expect((await everything()).filter(isSure), forgotAlone).toEqual(
    plain(...loading(old, 0), ...loading(current, 0, alone)).filter(
      (line) => kept(line) && (has.includes(line) || !ofFile(alone, line)),
    ),
  );
  expect(await load('f0.lisp'), forgotAlone).not.toMatch(unchanged);

  const { text, isError } = await session.call('restart_image', { rebuild: 'session' });
  expect(isError, text).toBe(false);
  // A file that only the text of before loaded can be loaded again, from its text of now.
  const rebuilt = await everything();
  const any = plain(...loading(current, ...first.keys()));
  expect(rebuilt, `${forgotAlone}\n${text}`).toEqual(expect.arrayContaining(has));
  expect(any, `${forgotAlone}\n${text}`).toEqual(expect.arrayContaining(rebuilt));
  expect(await load('f0.lisp'), forgotAlone).not.toMatch(unchanged);
}

test(
  'forgetting removes what the file itself no longer has, and nothing that another made',
  () => fc.assert(fc.asyncProperty(SYSTEMS, check), { numRuns: LONG ? 100 : 1, endOnFailure: true }),
  PATIENCE_MS,
);
