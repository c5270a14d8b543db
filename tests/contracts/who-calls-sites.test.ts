// S3.18: places of uses that an expansion has copied, that #. has moved, and of files that have changed.

import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

let session: Session;
const folder = temporaryFolder();
beforeAll(async () => {
  session = await startSession({ args: ['--root', folder.path] });
});
afterAll(async () => {
  await session.close();
  folder.remove();
});

let clock = Date.now() / 1000 - 100_000;

/** Writes TEXT to the file NAME, as if ten seconds after the last. */
function write(name: string, text: string): void {
  writeFileSync(join(folder.path, name), text);
  clock += 10;
  utimesSync(join(folder.path, name), clock, clock);
}

async function load(name: string, text: string): Promise<void> {
  write(name, text);
  expect(await session.text('load_file', { path: name })).toBe(`Loaded ${name}`);
}

/** Returns the lines below NAME's caller CALLER. */
async function sitesOf(caller: string, name: string): Promise<string[]> {
  const text = await session.text('who_calls', { name, sites: true, limit: 500 });
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`  ${caller}`)) + 1;
  const rest = lines.slice(from);
  const to = rest.findIndex((line) => !line.startsWith('    '));
  return rest.slice(0, to === -1 ? undefined : to).map((line) => line.slice(4));
}

const COPYING = `(defpackage :places (:use :cl) (:export #:goal))
(defpackage :places-too (:use :cl) (:local-nicknames (#:pl #:places)))
(in-package :places)
(defun goal (x) x)
(defmacro copying (form) (copy-tree form))
(defmacro making (name) \`(copying (defun ,name () (goal 1))))
(copying (defun once (x)
  "(goal x)" ; (goal x)
  (list x
    (GOAL x) #-sbcl (goal 0) #| (goal 2) |#)))
(copying (defun twice (x)
  (goal x)
  (mapcar #'goal '(goal x))))
(making nowhere)
(copying (defun in-a-template (x)
  (macrolet ((it (y) \`(goal ,y)))
    (it x))))
(defun inside (x)
  (copying
   (progn (print x)
          (|GOAL| x))))
(in-package :places-too)
(defun goal (x) x)
(places::copying (defun far (x)
  (goal (places:goal x))
  (pl:goal x)))
`;

test('S3.18 a use that an expansion has copied is found by its name in the form', async () => {
  await load('copying.lisp', COPYING);
  expect(await sitesOf('PLACES::ONCE', 'places:goal')).toEqual([
    'copying.lisp:10:5  (GOAL x) #-sbcl (goal 0) #| (goal 2) |#)))',
  ]);
  expect(await sitesOf('PLACES::INSIDE', 'places:goal')).toEqual(['copying.lisp:21:11  (|GOAL| x))))']);
  expect(await sitesOf('PLACES::IN-A-TEMPLATE', 'places:goal')).toEqual([
    'copying.lisp:16:23  (macrolet ((it (y) `(goal ,y)))',
  ]);
});

test('S3.18 where it can be at several places all are told, and where at none the definition', async () => {
  expect(await sitesOf('PLACES::TWICE', 'places:goal')).toEqual([
    'copying.lisp:12:3  (goal x) (one of 2)',
    "copying.lisp:13:11  (mapcar #'goal '(goal x)))) (one of 2)",
  ]);
  expect(await sitesOf('PLACES::NOWHERE', 'places:goal')).toEqual([
    'copying.lisp:14:1  (making nowhere) (in an expansion)',
  ]);
});

test('S3.18 a symbol of the same name in another package is no use', async () => {
  expect(await sitesOf('PLACES-TOO::FAR', 'places:goal')).toEqual([
    'copying.lisp:25:9  (goal (places:goal x)) (one of 2)',
    'copying.lisp:26:3  (pl:goal x))) (one of 2)',
  ]);
  expect(await sitesOf('PLACES-TOO::FAR', 'places-too::goal')).toEqual([
    'copying.lisp:25:3  (goal (places:goal x))',
  ]);
});

test('S3.18 a variable is found by its name too', async () => {
  await load(
    'variable.lisp',
    `(defmacro copying-a (form) (copy-tree form))
(defvar *goal-a* 1)
(copying-a (defun reads-a ()
  (print
    (list *goal-a*))))
`,
  );
  expect(
    await session.text('who_references', { name: '*goal-a*', sites: true }),
  ).toBe(`Functions that read COMMON-LISP-USER::*GOAL-A*:

  COMMON-LISP-USER::READS-A
    variable.lisp:5:5  (list *goal-a*))))`);
});

const MADE = `(defun goal-b (x) x)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *settings-b* '(optimize (speed 1) (safety 1))))
(defun made-b (x)
  (declare #.*settings-b*)
  (goal-b x)
  (let ((y (goal-b x)))
    (declare #.*settings-b*)
    (list (goal-b y)
          (when y (goal-b (goal-b 2))))))
`;

test('S3.18 what #. makes loses no site', async () => {
  await load('made.lisp', MADE);
  expect(await sitesOf('COMMON-LISP-USER::MADE-B', 'goal-b')).toEqual([
    'made.lisp:6:3  (goal-b x)',
    'made.lisp:7:12  (let ((y (goal-b x)))',
    'made.lisp:9:11  (list (goal-b y)',
    'made.lisp:10:19  (when y (goal-b (goal-b 2))))))',
    'made.lisp:10:27  (when y (goal-b (goal-b 2))))))',
  ]);
});

const CHANGED = '(the file changed since it was loaded)';
const FORMS = {
  goal: '(defgeneric goal-c (x))',
  circle: '(defmethod shape-c ((s string) x)\n  (goal-c x))',
  square: '(defmethod shape-c :around ((s symbol) x)\n  (goal-c x))',
  one: '(defun one-c (x)\n  (goal-c x)\n  (goal-c (1+ x)))',
  two: '(defun two-c (x) (goal-c x))',
  unnamed: '(let ((x 1))\n  (defun closed-c () (goal-c x)))',
};

/** Writes the file of FORMS with those KEYS, or other texts, in their order. */
function writeForms(name: string, ...keys: string[]): void {
  write(name, `${keys.map((key) => (FORMS as Record<string, string>)[key] ?? key).join('\n')}\n`);
}

test('S3.18 after an edit a form is found again by its operator and name', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await session.text('load_file', { path: 'edited.lisp' })).toContain('Loaded edited.lisp');
  writeForms(
    'edited.lisp',
    ';; new',
    '(defvar *new-c*)',
    'two',
    'one',
    'square',
    'circle',
    'unnamed',
    'goal',
  );
  expect(await sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual([
    `edited.lisp:5:3  (goal-c x) ${CHANGED}`,
    `edited.lisp:6:3  (goal-c (1+ x))) ${CHANGED}`,
  ]);
  expect(await sitesOf('COMMON-LISP-USER::CLOSED-C', 'goal-c')).toEqual([
    `edited.lisp:12:22  (defun closed-c () (goal-c x))) ${CHANGED}`,
  ]);
  expect(await sitesOf('COMMON-LISP-USER::SHAPE-C', 'goal-c')).toEqual([
    `edited.lisp:8:3  (goal-c x)) ${CHANGED}  [method :AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)]`,
    `edited.lisp:10:3  (goal-c x)) ${CHANGED}  [method (COMMON-LISP::STRING COMMON-LISP::T)]`,
  ]);
  const described = await session.text('describe_symbol', { symbol: 'shape-c' });
  expect(described).toContain(`:AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)  edited.lisp:7:1 ${CHANGED}`);
  expect(await session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp:3:1 ${CHANGED}`,
  );
});

test('S3.18 a form that was edited itself, or is gone, never has the text of another', async () => {
  writeForms(
    'edited.lisp',
    'goal',
    '(defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3))',
    '(let ((x 2))\n  (defun closed-c () (goal-c x)))',
  );
  expect(await sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual(
    ['18', '29', '40'].map(
      (column) =>
        `edited.lisp:2:${column}  (defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3)) (one of 3) ${CHANGED}`,
    ),
  );
  expect(await sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([`edited.lisp  ${CHANGED}`]);
  expect(await session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp ${CHANGED}`,
  );
});

test('S3.18 a file that is as it was loaded has not changed, whatever its date', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([
    'edited.lisp:9:18  (defun two-c (x) (goal-c x))',
  ]);
});

test('S3.18 an edit in the second of the load counts', async () => {
  const text = '(defun goal-d (x) x)\n(defun use-d (x) (goal-d x))\n';
  await load('second.lisp', text);
  writeFileSync(join(folder.path, 'second.lisp'), `(defun other-d (x) x)\n${text}`);
  utimesSync(join(folder.path, 'second.lisp'), clock, clock);
  expect(await sitesOf('COMMON-LISP-USER::USE-D', 'goal-d')).toEqual([
    `second.lisp:3:18  (defun use-d (x) (goal-d x)) ${CHANGED}`,
  ]);
});

test('S3.18 without what was loaded the name alone tells, when one form has it', async () => {
  write('unseen.lisp', '(defun goal-e (x) x)\n(defun use-e (x) (goal-e x))\n(defun both-e (x) (goal-e x))\n');
  await session.eval('(load "unseen.lisp")');
  const twice = "(defun both-e (x) (goal-e x))\n(define-compiler-macro both-e (x) (list 'goal-e x))";
  write(
    'unseen.lisp',
    `(defun other-e (x) x)\n(defun goal-e (x) x)\n(defun use-e (x)\n  (goal-e x))\n${twice}\n`,
  );
  expect(await sitesOf('COMMON-LISP-USER::USE-E', 'goal-e')).toEqual([
    `unseen.lisp:4:3  (goal-e x)) ${CHANGED}`,
  ]);
  expect(await sitesOf('COMMON-LISP-USER::BOTH-E', 'goal-e')).toEqual([`unseen.lisp  ${CHANGED}`]);
});

test('S3.18 a definition of which SBCL keeps no date is shown only where it has its name', async () => {
  const path = join(folder.path, 'undated.lisp');
  writeFileSync(path, '(defclass class-h () ())\n(defvar *other-h* 1)\n');
  await session.eval('(load "undated.lisp")');
  const described = () => session.text('describe_symbol', { symbol: 'class-h' });
  expect(await described()).toMatch(/Defined: undated.lisp:1:1$/m);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n(defclass class-h () ())\n');
  expect(await described()).toContain(`Defined: undated.lisp:3:1 ${CHANGED}`);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n');
  expect(await described()).toContain(`Defined: undated.lisp ${CHANGED}`);
});

test('S3.18 a system of the workspace is found again too', async () => {
  write('sites-system.asd', '(defsystem "sites-system" :components ((:file "part")))');
  write('part.lisp', '(defun goal-f (x) x)\n(defun use-f (x) (goal-f x))\n');
  expect(await session.text('load_system', { system: 'sites-system' })).toBe('Loaded system sites-system');
  write('part.lisp', '(defmacro use-f (x) x)\n\n(defun use-f (x) (goal-f x))\n');
  expect(await sitesOf('COMMON-LISP-USER::USE-F', 'goal-f')).toEqual([
    `part.lisp:3:18  (defun use-f (x) (goal-f x)) ${CHANGED}`,
  ]);
  expect(readFileSync(join(folder.path, 'part.lisp'), 'utf8')).toContain('goal-f');
});

/** Returns a random number below LIMIT, the same at each run. */
let seed = 20;
function random(limit: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * limit);
}

test('S3.18 after random edits no place has the text of another form', { timeout: 300_000 }, async () => {
  const form = (n: number) =>
    [
      `(defun name-${n} (x) (goal-g (list :name-${n} x)))`,
      `(defmethod name-${n} ((x symbol)) (goal-g (list :name-${n} x)))`,
      `(defvar *name-${n}* :name-${n})`,
      `(let ((x ${n})) (defun name-${n} () (goal-g (list :name-${n} x))))`,
    ][n % 4] ?? '';
  const names = Array.from({ length: 24 }, (_, n) => n);
  let forms = names.map(form);
  await load('random.lisp', `(defun goal-g (x) x)\n${forms.join('\n')}\n`);
  let found = 0;
  for (let round = 0; round < 12; round++) {
    const at = random(forms.length);
    const [moved = ''] = forms.splice(at, 1);
    if (round % 3 === 0) forms.splice(random(forms.length), 0, moved);
    if (round % 3 === 1) forms.splice(random(forms.length), 0, `(defun new-${round} (x) (goal-g :new))`);
    forms = [...forms];
    write('random.lisp', `(defun goal-g (x) x)\n${forms.join('\n')}\n`);
    const text = await session.text('who_calls', { name: 'goal-g', sites: true });
    let caller = '';
    for (const line of text.split('\n')) {
      caller = /^ {2}COMMON-LISP-USER::(\S+)/.exec(line)?.[1]?.toLowerCase() ?? caller;
      const shown = /^ {4}random\.lisp:\d+:\d+ {2}(.*)/.exec(line)?.[1];
      if (shown === undefined) continue;
      expect(shown).toContain(`:${caller} `);
      found++;
    }
    const lines = readFileSync(join(folder.path, 'random.lisp'), 'utf8').split('\n');
    for (const n of names) {
      const symbol = n % 4 === 2 ? `*name-${n}*` : `name-${n}`;
      const described = await session.text('describe_symbol', { symbol });
      for (const [, line] of described.matchAll(/random\.lisp:(\d+):/g)) {
        expect(lines[Number(line) - 1]).toContain(`name-${n}`);
        expect(lines[Number(line) - 1]).toBe(form(n));
        found++;
      }
    }
  }
  expect(found).toBeGreaterThan(100);
});
