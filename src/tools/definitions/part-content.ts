// Prepares the content that is compiled when only some forms of a file are loaded, each at its place in the file.

import { SPREADING } from '../../source/current-package.ts';
import { formText } from '../../source/definitions.ts';
import { bareName, elementsOf, type Form } from '../../source/form.ts';
import type { PlannedFile } from './edited-files.ts';

/** Operators of forms that only set how the following forms are read and compiled. */
const SETTING: readonly string[] = ['IN-PACKAGE', 'IN-READTABLE', 'DECLAIM'];

const [BLANK, LINE_FEED, RETURN, ATOM, QUOTE, ASCII] = [0x20, 0x0a, 0x0d, 0x30, 0x22, 0x7f];

/** Returns the bytes of FILE as Latin-1 text, with each form not loaded replaced by an atom and blanks. So the others
 *  keep their numbers, and their places in octets and in characters. */
export function contentOf({ bytes, before, after, now, numbers }: PlannedFile): string {
  const content = Buffer.from(bytes);
  const octets = (text: string) => (before.encoding === 'Latin-1' ? text.length : Buffer.byteLength(text));
  let [at, index] = [before.bom ? 3 : 0, 0];
  const place = (next: number) => {
    at += octets(after.slice(index, next));
    index = next;
    return at;
  };
  for (const [number, start] of now.starts().entries()) {
    const found = now.at(start);
    if (found === undefined || numbers[number] === null) continue;
    for (const [first, end] of unsettingParts(found.form, after)) {
      const from = place(first);
      const to = place(end);
      putAtom(content.subarray(from, to));
    }
  }
  return content.toString('latin1');
}

/** Overwrites PART, the bytes of a form, with a number; when it has multibyte characters, with a string of these. */
function putAtom(part: Buffer): void {
  const first = part[0] ?? 0;
  const last = part.at(-1) ?? 0;
  const wide = first <= ASCII && last <= ASCII && part.some((byte) => byte > ASCII);
  part.forEach((byte, offset) => {
    if (byte !== LINE_FEED && byte !== RETURN && !(wide && byte > ASCII)) part[offset] = BLANK;
  });
  if (wide) part[0] = QUOTE;
  // The place of the next form depends on where this one ends.
  part[part.length - 1] = wide ? QUOTE : ATOM;
}

/** Returns start and end of the parts of FORM, a top-level form of TEXT, without those that only set how the following
 *  forms are read and compiled. */
function unsettingParts(form: Form, text: string): [start: number, end: number][] {
  if (SETTING.includes(operatorOf(form))) return [];
  if (!sets(form)) return [[form.start, form.start + formText(text, form).length]];
  const parts = elementsOf(form).slice(operatorOf(form) === 'EVAL-WHEN' ? 2 : 1);
  return parts.flatMap((part) => unsettingParts(part, text));
}

/** True when FORM, or a subform at top level, sets how the following forms are read and compiled. */
function sets(form: Form): boolean {
  const operator = operatorOf(form);
  return SETTING.includes(operator) || (SPREADING.includes(operator) && elementsOf(form).some(sets));
}

function operatorOf(form: Form): string {
  return bareName(elementsOf(form)[0]);
}
