// Decides what is compiled of a file of which only some forms are loaded: these, where they stand in it.

import { SPREADING } from '../../source/current-package.ts';
import { bareName, elementsOf, type Form, formText } from '../../source/form.ts';
import type { PlannedFile } from './edited-files.ts';

/** Operators of forms that only say how those after them are read and compiled. */
const SETTING: readonly string[] = ['IN-PACKAGE', 'IN-READTABLE', 'DECLAIM'];

const [BLANK, LINE_FEED, RETURN, ATOM, QUOTE, ASCII] = [0x20, 0x0a, 0x0d, 0x30, 0x22, 0x7f];

/** Returns the bytes of FILE, as characters, with an atom and blanks in the place of each form that is not loaded. So the
 *  others have the places, in octets and in characters, and the numbers that they have in FILE. */
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

/** Puts a number into PART, the bytes of a form, or a string that has those of its characters that take several bytes. */
function putAtom(part: Buffer): void {
  const first = part[0] ?? 0;
  const last = part.at(-1) ?? 0;
  const wide = first <= ASCII && last <= ASCII && part.some((byte) => byte > ASCII);
  part.forEach((byte, offset) => {
    if (byte !== LINE_FEED && byte !== RETURN && !(wide && byte > ASCII)) part[offset] = BLANK;
  });
  if (wide) part[0] = QUOTE;
  // The next form is told by where this one ends.
  part[part.length - 1] = wide ? QUOTE : ATOM;
}

/** Returns where the parts of FORM, a top-level form of TEXT, begin and end. Those that only say how what follows is read and
 *  compiled are left out. */
function unsettingParts(form: Form, text: string): [start: number, end: number][] {
  if (SETTING.includes(operatorOf(form))) return [];
  if (!sets(form)) return [[form.start, form.start + formText(text, form).length]];
  const parts = elementsOf(form).slice(operatorOf(form) === 'EVAL-WHEN' ? 2 : 1);
  return parts.flatMap((part) => unsettingParts(part, text));
}

/** Whether FORM, or one that it has at top level, says how what follows is read and compiled. */
function sets(form: Form): boolean {
  const operator = operatorOf(form);
  return SETTING.includes(operator) || (SPREADING.includes(operator) && elementsOf(form).some(sets));
}

function operatorOf(form: Form): string {
  return bareName(elementsOf(form)[0]);
}
