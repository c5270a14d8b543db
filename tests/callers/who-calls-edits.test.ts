// S3.18: places in files that have changed since they were loaded.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONG } from '../long.ts';
import { fractionsFrom } from '../random.ts';
import { Written } from './written.ts';

const written = new Written();

const CHANGED = '(the file changed since it was loaded)';
const ELSEWHERE = '(the file changed since it was loaded, but not here)';
const EDITED = '(changed since it was loaded)';
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
  written.write(name, `${keys.map((key) => (FORMS as Record<string, string>)[key] ?? key).join('\n')}\n`);
}

test('S3.18 after an edit a form is found again by its operator and name', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await written.session.text('load_file', { path: 'edited.lisp' })).toContain('Loaded edited.lisp');
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
  expect(await written.sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual([
    `edited.lisp:5:3  (goal-c x) ${ELSEWHERE}`,
    `edited.lisp:6:3  (goal-c (1+ x))) ${ELSEWHERE}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::CLOSED-C', 'goal-c')).toEqual([
    `edited.lisp:12:22  (defun closed-c () (goal-c x))) ${ELSEWHERE}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::SHAPE-C', 'goal-c')).toEqual([
    `edited.lisp:8:3  (goal-c x)) ${ELSEWHERE}  [method :AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)]`,
    `edited.lisp:10:3  (goal-c x)) ${ELSEWHERE}  [method (COMMON-LISP::STRING COMMON-LISP::T)]`,
  ]);
  const described = await written.session.text('describe_symbol', { symbol: 'shape-c' });
  expect(described).toContain(`:AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)  edited.lisp:7:1 ${ELSEWHERE}`);
  expect(await written.session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp:3:1 ${ELSEWHERE}`,
  );
});

test('S3.18 a form that was edited itself, or is gone, never has the text of another', async () => {
  writeForms(
    'edited.lisp',
    'goal',
    '(defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3))',
    '(let ((x 2))\n  (defun closed-c () (goal-c x)))',
  );
  expect(await written.sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual(
    ['18', '29', '40'].map(
      (column) =>
        `edited.lisp:2:${column}  (defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3)) (one of 3 candidates) ${EDITED}`,
    ),
  );
  expect(await written.sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([`edited.lisp  ${CHANGED}`]);
  expect(await written.session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp ${CHANGED}`,
  );
});

test('S3.18 a file that is as it was loaded has not changed, whatever its date', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await written.sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([
    'edited.lisp:9:18  (defun two-c (x) (goal-c x))',
  ]);
});

test('S3.18 an edit in the second of the load counts', async () => {
  const text = '(defun goal-d (x) x)\n(defun use-d (x) (goal-d x))\n';
  await written.load('second.lisp', text);
  written.write('second.lisp', `(defun other-d (x) x)\n${text}`, true);
  expect(await written.sitesOf('COMMON-LISP-USER::USE-D', 'goal-d')).toEqual([
    `second.lisp:3:18  (defun use-d (x) (goal-d x)) ${ELSEWHERE}`,
  ]);
});

test('S3.18 an edit between two answers counts, also when the file has its size and its date', async () => {
  const [one, other] = ['(defun use-j (x) (goal-j x))', '(defun goal-j (x) x)'];
  await written.load('between.lisp', `${other}\n${one}\n`);
  expect(await written.sitesOf('COMMON-LISP-USER::USE-J', 'goal-j')).toEqual([
    'between.lisp:2:18  (defun use-j (x) (goal-j x))',
  ]);
  for (const [line, text] of [
    [1, `${one}\n${other}\n`],
    [2, `${other}\n${one}\n`],
    [1, `${one}\n${other}\n`],
  ] as const) {
    written.write('between.lisp', text, true);
    const changed = line === 1 ? ` ${ELSEWHERE}` : '';
    expect(await written.sitesOf('COMMON-LISP-USER::USE-J', 'goal-j')).toEqual([
      `between.lisp:${line}:18  (defun use-j (x) (goal-j x))${changed}`,
    ]);
  }
});

test('S3.18 where no text was kept the name alone tells, when one form has it', async () => {
  // The image keeps no text of more than 4 MB.
  const long = `;${'-'.repeat(4_000_000)}\n`;
  written.write(
    'unseen.lisp',
    `(defun goal-e (x) x)\n(defun use-e (x) (goal-e x))\n(defun both-e (x) (goal-e x))\n${long}`,
  );
  await written.session.eval('(load "unseen.lisp")');
  const twice = "(defun both-e (x) (goal-e x))\n(define-compiler-macro both-e (x) (list 'goal-e x))";
  written.write(
    'unseen.lisp',
    `(defun other-e (x) x)\n(defun goal-e (x) x)\n(defun use-e (x)\n  (goal-e x))\n${twice}\n`,
  );
  expect(await written.sitesOf('COMMON-LISP-USER::USE-E', 'goal-e')).toEqual([
    `unseen.lisp:4:3  (goal-e x)) ${CHANGED}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::BOTH-E', 'goal-e')).toEqual([`unseen.lisp  ${CHANGED}`]);
});

test('S3.18 a definition of which SBCL keeps no date is found in what was loaded', async () => {
  const path = written.path('undated.lisp');
  writeFileSync(path, '(defclass class-h () ())\n(defvar *other-h* 1)\n');
  await written.session.eval('(load "undated.lisp")');
  const described = () => written.session.text('describe_symbol', { symbol: 'class-h' });
  expect(await described()).toMatch(/Defined: undated.lisp:1:1$/m);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n(defclass class-h () ())\n');
  expect(await described()).toContain(`Defined: undated.lisp:3:1 ${ELSEWHERE}`);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n');
  expect(await described()).toContain(`Defined: undated.lisp ${CHANGED}`);
});

test('S3.18 a system of the workspace is found again too', async () => {
  written.write('sites-system.asd', '(defsystem "sites-system" :components ((:file "part")))');
  written.write('part.lisp', '(defun goal-f (x) x)\n(defun use-f (x) (goal-f x))\n');
  expect(await written.session.text('load_system', { system: 'sites-system' })).toBe(
    'Loaded system sites-system',
  );
  written.write('part.lisp', '(defmacro use-f (x) x)\n\n(defun use-f (x) (goal-f x))\n');
  expect(await written.sitesOf('COMMON-LISP-USER::USE-F', 'goal-f')).toEqual([
    `part.lisp:3:18  (defun use-f (x) (goal-f x)) ${ELSEWHERE}`,
  ]);
  expect(readFileSync(written.path('part.lisp'), 'utf8')).toContain('goal-f');
});

const next = fractionsFrom(20);
/** Returns a random number below LIMIT, the same at each run. */
function random(limit: number): number {
  return Math.floor(next() * limit);
}

test('S3.18 after random edits no place has the text of another form', async () => {
  const form = (n: number) =>
    [
      `(defun name-${n} (x) (goal-g (list :name-${n} x)))`,
      `(defmethod name-${n} ((x symbol)) (goal-g (list :name-${n} x)))`,
      `(defvar *name-${n}* :name-${n})`,
      `(let ((x ${n})) (defun name-${n} () (goal-g (list :name-${n} x))))`,
    ][n % 4] ?? '';
  const names = Array.from({ length: 24 }, (_, n) => n);
  let forms = names.map(form);
  await written.load('random.lisp', `(defun goal-g (x) x)\n${forms.join('\n')}\n`);
  let found = 0;
  for (let round = 0; round < (LONG ? 12 : 3); round++) {
    const at = random(forms.length);
    const [moved = ''] = forms.splice(at, 1);
    if (round % 3 === 0) forms.splice(random(forms.length), 0, moved);
    if (round % 3 === 1) forms.splice(random(forms.length), 0, `(defun new-${round} (x) (goal-g :new))`);
    forms = [...forms];
    written.write('random.lisp', `(defun goal-g (x) x)\n${forms.join('\n')}\n`);
    const text = await written.session.text('who_calls', { name: 'goal-g', sites: true });
    let caller = '';
    for (const line of text.split('\n')) {
      caller = /^ {2}COMMON-LISP-USER::(\S+)/.exec(line)?.[1]?.toLowerCase() ?? caller;
      const shown = /^ {4}random\.lisp:\d+:\d+ {2}(.*)/.exec(line)?.[1];
      if (shown === undefined) continue;
      expect(shown).toContain(`:${caller} `);
      found++;
    }
    const lines = readFileSync(written.path('random.lisp'), 'utf8').split('\n');
    for (const n of names) {
      const symbol = n % 4 === 2 ? `*name-${n}*` : `name-${n}`;
      const described = await written.session.text('describe_symbol', { symbol });
      for (const [, line] of described.matchAll(/random\.lisp:(\d+):/g)) {
        expect(lines[Number(line) - 1]).toContain(`name-${n}`);
        expect(lines[Number(line) - 1]).toBe(form(n));
        found++;
      }
    }
  }
  expect(found).toBeGreaterThan(100);
});
