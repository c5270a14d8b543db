// Prepares the text to compile when only some forms of a file are loaded. These forms keep their positions.

import { bareName, elementsOf, type Form } from '../../source/form.ts';
import { topLevelFormsIn } from '../../source/top-level.ts';
import type { PlannedFile } from './edited-files.ts';

/** Operators of forms that only set how later forms are read and compiled, or select the suite of later
 * tests. */
const SETTING_OPERATORS: readonly string[] = [
  'IN-PACKAGE',
  'IN-READTABLE',
  'DECLAIM',
  'IN-SUITE',
  'IN-SUITE*',
  'IN-ROOT-SUITE',
  'SET-MACRO-CHARACTER',
  'SET-DISPATCH-MACRO-CHARACTER',
  'MAKE-DISPATCH-MACRO-CHARACTER',
  'SET-SYNTAX-FROM-CHAR',
];
/** Variables and places that control the reader. An assignment changes how later forms are read. */
const READER_VARIABLES: readonly string[] = [
  '*READTABLE*',
  'READTABLE-CASE',
  '*PACKAGE*',
  '*READ-BASE*',
  '*READ-DEFAULT-FLOAT-FORMAT*',
];

const [BLANK, LINE_FEED, RETURN, ATOM, QUOTE, ASCII] = [0x20, 0x0a, 0x0d, 0x30, 0x22, 0x7f];

/** Returns the bytes of the file as Latin-1 text, with an atom and blanks in place of each form that is not
 * loaded. The other forms keep their numbers and positions, in octets and in characters. */
export function contentOf({ bytes, before, after, newForms, numbers }: PlannedFile): string {
  const content = Buffer.from(bytes);
  const octets = (text: string) => (before.encoding === 'Latin-1' ? text.length : Buffer.byteLength(text));
  let [offset, index] = [before.bom ? 3 : 0, 0];
  const offsetOf = (next: number) => {
    offset += octets(after.slice(index, next));
    index = next;
    return offset;
  };
  for (const [number, { start }] of newForms.allExtents().entries()) {
    const found = newForms.formFrom(start);
    if (found === undefined || numbers[number] === null) continue;
    for (const [first, end] of partsToBlank(found)) {
      const from = offsetOf(first);
      const to = offsetOf(end);
      putAtom(content.subarray(from, to));
    }
  }
  return content.toString('latin1');
}

/** Overwrites PART, the bytes of a form, with an atom and blanks. When PART has multibyte characters, the
 * atom is a string with these characters, which keeps the character count. */
function putAtom(part: Buffer): void {
  const first = part[0] ?? 0;
  const last = part.at(-1) ?? 0;
  const multibyte = first <= ASCII && last <= ASCII && part.some((byte) => byte > ASCII);
  part.forEach((byte, offset) => {
    if (byte !== LINE_FEED && byte !== RETURN && !(multibyte && byte > ASCII)) part[offset] = BLANK;
  });
  if (multibyte) part[0] = QUOTE;
  // The atom is at the end, because the next form begins at the reader's position after it.
  part[part.length - 1] = multibyte ? QUOTE : ATOM;
}

/** Returns the ranges of FORM, a top-level form, to overwrite: all parts except those that only set how later
 * forms are read and compiled. */
function partsToBlank(form: Form): [start: number, end: number][] {
  if (isSetting(form)) return [];
  if (!hasSetting(form)) return [[form.start, form.end]];
  const parts = elementsOf(form).slice(operatorOf(form) === 'EVAL-WHEN' ? 2 : 1);
  return parts.flatMap(partsToBlank);
}

function hasSetting(form: Form): boolean {
  return [...topLevelFormsIn(form)].some(isSetting);
}

function isSetting(form: Form): boolean {
  const places = assignedPlaces(form);
  const setsReader = places.length > 0 && places.every((place) => READER_VARIABLES.includes(place));
  return SETTING_OPERATORS.includes(operatorOf(form)) || setsReader;
}

/** Returns the variables that FORM assigns, if it is a SETF or SETQ. Other places are returned by their
 * operators. */
function assignedPlaces(form: Form): string[] {
  if (!['SETF', 'SETQ'].includes(operatorOf(form))) return [];
  const places = elementsOf(form).filter((_, index) => index % 2 === 1);
  return places.map((place) => bareName(place) || operatorOf(place));
}

function operatorOf(form: Form): string {
  return bareName(elementsOf(form)[0]);
}
