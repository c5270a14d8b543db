// Versions of a file that are written and loaded within one second, so that they have one date for SBCL.

import { beforeAll, expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace({ args: ['--allow', 'edit_definitions'] });
const EDITS = 3;

/** Further definitions in the file: name, kind and text. */
const OTHERS: [string, string, string][] = [
  ['thing', 'CLASS', '(defclass thing () (slot))'],
  ['amount', 'TYPE', '(deftype amount () 3)'],
  ['*held*', 'SPECIAL VARIABLE', '(defvar *held* 3)'],
  ['twice', 'MACRO', '(defmacro twice (form) `(* 2 ,form))'],
];

beforeAll(async () => {
  at.put('keep.lisp', ['(defun kept () :kept)', ...OTHERS.map(([, , text]) => text), ''].join('\n\n'));
  await at.answer('load_file', { path: 'keep.lisp' });
});

async function edit(edits: object[]): Promise<void> {
  expect(await at.answer('edit_definitions', { edits, load: true })).toMatch(/^Changed[\s\S]*\n\nLoaded/);
}

/** Expects that read_definition shows the definition of NAME, a KIND, as TEXT at LINE, with no remark. */
async function expectAt(line: number, name: string, kind: string, text: string): Promise<void> {
  const shown = await at.answer('read_definition', { name });
  expect(shown).toBe(`keep.lisp:${line}  COMMON-LISP-USER::${name.toUpperCase()} [${kind}]\n\n${text}`);
}

test('forms added above a definition, each loaded at once, move it', async () => {
  for (let number = 0; number < EDITS; number++) {
    const added = (which: number) => `(defun added-${which} () ${which})`;
    await edit([{ definition: 'kept', op: 'before', text: added(number) }]);
    const line = 2 * (number + 1) + 1;
    await expectAt(line, 'kept', 'FUNCTION', '(defun kept () :kept)');
    for (const [index, other] of OTHERS.entries()) await expectAt(line + 2 * (index + 1), ...other);
    await expectAt(1, 'added-0', 'FUNCTION', added(0));
    await expectAt(line - 2, `added-${number}`, 'FUNCTION', added(number));
  }
});
