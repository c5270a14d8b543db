// What is said of a definition's text (as it was loaded, changed, or made by code) is true of each, in files that are edited
// at random.

import { expect, test } from 'vitest';
import { NO_SYSTEMS } from '../harness.ts';
import { LONG } from '../long.ts';
import { randomFrom } from '../random.ts';
import { SEED } from '../seed.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const MACROS = `(defpackage :said (:use :cl))
(in-package :said)
(defgeneric apply-policy (x y))
(defmacro define-policy (name &body body)
  \`(progn
     (defclass ,name () ((limit :initform 1 :accessor ,(intern (format nil "~A-LIMIT" name)))))
     (defmethod apply-policy ((x ,name) (y integer)) ,@body)))
(defmacro define-twice (name value)
  \`(progn (defun ,name () ,value) (defun ,(intern (format nil "~A-TWICE" name)) () (* 2 ,value))))
`;

type Saying = 'as loaded' | 'changed' | 'made by code';

/** A top-level form: its text for a value, and the definitions that it makes, as answers name them. */
interface Unit {
  readonly text: (value: number) => string;
  readonly makes: readonly string[];
  readonly byCode?: boolean;
}

/** The kinds of units, of a number that is in their names. */
const KINDS: readonly ((n: number) => Unit)[] = [
  (n) => ({ text: (value) => `(defun f${n} (x) (list x ${value}))`, makes: [`F${n} [FUNCTION]`] }),
  (n) => ({
    text: (value) => `(define-policy p${n}\n  (list x y ${value}))`,
    makes: [
      `P${n} [CLASS]`,
      `P${n}-LIMIT (SAID::P${n}) [METHOD]`,
      `APPLY-POLICY (SAID::P${n} COMMON-LISP::INTEGER) [METHOD]`,
    ],
  }),
  (n) => ({
    text: (value) => `(define-twice t${n} ${value})`,
    makes: [`T${n} [FUNCTION]`, `T${n}-TWICE [FUNCTION]`],
  }),
  (n) => ({
    text: (value) => `(defclass c${n} ()\n  ((size :accessor c${n}-size :initform ${value})))`,
    makes: [`C${n} [CLASS]`, `C${n}-SIZE (SAID::C${n}) [METHOD]`],
  }),
  (n) => ({
    text: (value) => `(let ((count 0)) (defun counted${n} () (incf count ${value})))`,
    makes: [`COUNTED${n} [FUNCTION]`],
  }),
  (n) => ({
    text: (value) =>
      `(dolist (y '(${n} -${n})) (eval \`(defmethod apply-policy ((x string) (y (eql ,y))) ${value})))`,
    makes: [
      `APPLY-POLICY (COMMON-LISP::STRING (EQL ${n})) [METHOD]`,
      `APPLY-POLICY (COMMON-LISP::STRING (EQL -${n})) [METHOD]`,
    ],
    byCode: true,
  }),
];

const folder = sharedFolder();
const put = (name: string, text: string) => folder.put(name, text);
const session = sharedSession({ args: ['--root', folder.path, ...NO_SYSTEMS] });

/** Returns what TEXT, an answer of read_definition, says of each definition that it names. */
function sayings(text: string): Map<string, string> {
  const said = new Map<string, string>();
  for (const [, place = '', names = '', note = ''] of text.matchAll(
    /^(no source \(.*?\)|\S+\.lisp:[\d-]+) {2}(SAID::.*\])(?: \((.*)\))?$/gm,
  )) {
    const saying = note.startsWith('made by the code of this form')
      ? 'made by code'
      : note === '' || note === 'as it was loaded; the file changed since, but not here'
        ? 'as loaded'
        : note === 'changed since it was loaded; this is its text now'
          ? 'changed'
          : `${place} ${note}`;
    for (const name of names.split(/(?<=\]), /)) said.set(name.replace(/^SAID::/, ''), saying);
  }
  return said;
}

test('of each definition in files that were edited', async () => {
  const below = randomFrom(SEED);
  let compared = 0;
  for (let round = 0; round < (LONG ? 40 : 2); round++) {
    const units = Array.from({ length: 8 + below(8) }, (_, index) => {
      const unit = KINDS[below(KINDS.length)]?.(100 * (round + 1) + index) as Unit;
      return { unit, value: below(1000), changed: false };
    });
    const file = `round${round}.lisp`;
    const write = (with_: (index: number) => string) =>
      put(
        file,
        `(in-package :said)\n${units.map(({ unit, value }, index) => `${with_(index)}${unit.text(value)}\n`).join('')}`,
      );
    put('macros.lisp', MACROS);
    expect(await session.text('load_file', { path: 'macros.lisp' })).toMatch(/^Loaded/);
    write(() => '');
    expect(await session.text('load_file', { path: file })).toMatch(/^Loaded/);
    for (let edit = 0; edit < 3; edit++) {
      for (const each of units)
        if (below(5) === 0) {
          // Some are set back to what was loaded.
          each.value =
            each.changed && below(2) === 0 ? each.value - 1000 : each.value + (each.changed ? 0 : 1000);
          each.changed = each.value >= 1000;
        }
      const kinds = ['', '', '', '\n', '; a comment\n', `(defun new${round} () 1)\n`];
      write(() => kinds[below(kinds.length)] as string);
      if (below(2) === 0) put('macros.lisp', `${MACROS}; more\n`);
      const text = [
        await session.text('read_definition', { name: 'said::apply-policy', methods: true }),
        ...(await Promise.all(
          units.flatMap(({ unit }) =>
            unit.makes
              .filter((name) => !name.startsWith('APPLY-POLICY'))
              .map((name) => session.text('read_definition', { name: `said::${name.split(' ')[0]}` })),
          ),
        )),
      ].join('\n');
      const said = sayings(text);
      for (const { unit, changed } of units)
        for (const name of unit.makes) {
          const truth: Saying = unit.byCode ? 'made by code' : changed ? 'changed' : 'as loaded';
          expect({ round, edit, name, said: said.get(name) }, text).toEqual({
            round,
            edit,
            name,
            said: truth,
          });
          compared++;
        }
    }
  }
  expect(compared).toBeGreaterThan(LONG ? 150 : 60);
});
