// Files at random, with definitions and without, of two systems, edited at random dates. After each load the image has
// what a plain SBCL has that loads the same texts, and the answer says whether a text had changed.

import { execFileSync } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED, testSbcl } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { restartedSession } from '../restarted.ts';
import { sharedFolder } from '../shared.ts';

const FILES = 4;

/** What a file has besides the form that keeps its number. */
const KINDS = [
  '',
  '(defun made () 1)',
  '(defgeneric made-generic (x))',
  '(defvar *made* 1)',
  '(defclass made () ())',
  '(declaim (special *also*))',
  '(eval-when (:compile-toplevel :load-toplevel :execute) (setf (get (quote seen) :compiled) t))',
  '; λ in a comment',
];

const textOf = (file: number, { kind, n, end }: Edit) =>
  [KINDS[kind], `(setf (get 'seen :f${file}) ${n})`, ''].join(end);

/** A new text of a file. BACK is how many seconds before now it is dated. */
interface Edit {
  file: number;
  kind: number;
  n: number;
  back: number;
  end: string;
}

const edit = fc.record({
  file: fc.nat({ max: FILES - 1 }),
  kind: fc.nat({ max: KINDS.length - 1 }),
  n: fc.nat({ max: 2 }),
  back: fc.constantFrom(0, 0, 0, 1, 3600),
  end: fc.constantFrom('\n', '\n', '\r\n'),
});

/** The edits before each load. */
const STEPS = fc.array(fc.array(edit, { maxLength: 2 }), { minLength: 4, maxLength: 8 });

const SEEN = `(loop for n below ${FILES} collect (get 'cl-user::seen (intern (format nil "F~D" n) :keyword)))`;

const root = sharedFolder();
const start = restartedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

/** Returns what a plain SBCL has once it has loaded the files of NAME. */
function plain(name: string): string {
  const loads = Array.from(
    { length: FILES },
    (_, file) => `(load "${join(root.path, `${name}-f${file}.lisp`)}")`,
  );
  const forms = [...loads, `(format t "~%~S" ${SEEN})`].flatMap((form) => ['--eval', form]);
  const options = ['--noinform', '--no-userinit', '--non-interactive', ...forms];
  return (
    execFileSync(testSbcl(), options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n')
      .at(-1) ?? ''
  );
}

let runs = 0;
async function check(steps: Edit[][]): Promise<void> {
  runs += 1;
  const name = `unchanged${runs}`;
  const texts = new Map<number, string>();
  const write = (each: Edit) => {
    const path = join(root.path, `${name}-f${each.file}.lisp`);
    texts.set(each.file, textOf(each.file, each));
    writeFileSync(path, textOf(each.file, each));
    const date = Date.now() / 1000 - each.back;
    if (each.back > 0) utimesSync(path, date, date);
  };
  for (let file = 0; file < FILES; file += 1) write({ file, kind: file, n: 0, back: 0, end: '\n' });
  const component = (file: number) => `(:file "${name}-f${file}")`;
  root.put(`${name}-low.asd`, `(defsystem "${name}-low" :components (${component(0)} ${component(1)}))\n`);
  root.put(
    `${name}.asd`,
    `(defsystem "${name}" :depends-on ("${name}-low") :components (${component(2)} ${component(3)}))\n`,
  );
  const session = await start();
  const load = async () => (await session.call('load_system', { system: name })).text;
  expect(await load()).toBe(`Loaded system ${name}, with ${name}-low`);
  for (const [number, edits] of steps.entries()) {
    const before = new Map(texts);
    for (const each of edits) write(each);
    const changed = [...texts].some(([file, text]) => before.get(file) !== text);
    const said = await load();
    const where = `step ${number} of ${JSON.stringify(steps)}: ${said}`;
    expect(await session.eval(SEEN), where).toBe(plain(name));
    // ASDF loads a file of a later date, whatever its text.
    if (changed || edits.length === 0)
      expect(said.split('\n')[0], where).toBe(
        changed
          ? `System ${name} was loaded already; changed files were loaded again.`
          : `System ${name} was loaded already, and none of its files has changed.`,
      );
  }
}

test(
  'a system is loaded again when a text of its files has changed, whatever they define',
  () => fc.assert(fc.asyncProperty(STEPS, check), { numRuns: LONG ? 60 : 1, endOnFailure: true }),
  PATIENCE_MS,
);
