// Prepares the text that is compiled when only some forms of a file are loaded. These forms keep their positions.

import { isDefiner } from '../../source/definition.ts';
import { elementsOf, type Form, symbolNameOf } from '../../source/form.ts';
import { mayContainPlainly } from '../../source/mentioning.ts';
import { topLevelFormsIn } from '../../source/top-level.ts';
import type { PlannedFile } from './edited-files.ts';

/** Operators of forms that only set how later forms are read and compiled, or to which suite later tests belong. */
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
/** Assignments inside forms with these operators, or with operators that begin with DEF, are not searched. Most of this
 * code does not run when the form is evaluated. */
const DEFERRING_OPERATORS: readonly string[] = ['QUOTE', 'FUNCTION', 'LAMBDA', 'FLET', 'LABELS', 'MACROLET'];
/** Number of levels of nested lists in which assignments are searched. */
const SEARCH_DEPTH = 8;

const [BLANK, LINE_FEED, RETURN, ATOM, QUOTE, ASCII] = [0x20, 0x0a, 0x0d, 0x30, 0x22, 0x7f];

/** Returns the bytes of the file as Latin-1 text. An atom and blanks replace each form that is not loaded, so that the
 * other forms keep their numbers and their positions, in octets and in characters. */
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

/** Overwrites PART, the bytes of a form, with an atom and blanks. If PART has multibyte characters, the atom is a
 * string of these, so that the number of characters stays the same. */
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

/** Returns the ranges of FORM, a top-level form, that must be overwritten so that a load does not evaluate them: all
 * parts except those that only set how later forms are read and compiled. */
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
  return (
    SETTING_OPERATORS.includes(operatorOf(form)) || (places.length > 0 && places.every(isReaderVariable))
  );
}

/** If FORM is a SETF or SETQ, returns the names of the variables and of the accessors that it assigns; else []. */
function assignedPlaces(form: Form): string[] {
  if (!['SETF', 'SETQ'].includes(operatorOf(form))) return [];
  const places = elementsOf(form).filter((_, index) => index % 2 === 1);
  return places.map((place) => symbolNameOf(place) || operatorOf(place));
}

function isReaderVariable(place: string): boolean {
  return READER_VARIABLES.includes(place);
}

/** Returns the line of an unchanged form that is before the last changed form, sets a variable of the reader, and also
 * does other things. A load of only the changed forms cannot leave such a form out, because it decides how later forms
 * are read. Returns undefined when there is none. */
export function lineOfReaderSetting({ after, newForms, numbers, changed }: PlannedFile): number | undefined {
  const last = changed.at(-1)?.start ?? 0;
  const found = newForms.allExtents().find(({ start, end }, number) => {
    if (start >= last || numbers[number] === null) return false;
    if (!mayContainPlainly(after.slice(start, end), READER_VARIABLES)) return false;
    const form = newForms.formFrom(start);
    return form !== undefined && [...topLevelFormsIn(form)].some(setsAmongOthers);
  });
  return found && newForms.source.lineAt(found.start);
}

/** Returns true when FORM, at top level, sets how later forms are read and also does other things. */
function setsAmongOthers(form: Form): boolean {
  return !isSetting(form) && assigns(form, SEARCH_DEPTH);
}

/** Returns true when FORM assigns a variable that controls the reader. Searches lists to DEPTH levels. */
function assigns(form: Form, depth: number): boolean {
  const operator = operatorOf(form);
  if (depth === 0 || isDefiner(operator) || DEFERRING_OPERATORS.includes(operator)) return false;
  return (
    assignedPlaces(form).some(isReaderVariable) || elementsOf(form).some((part) => assigns(part, depth - 1))
  );
}

function operatorOf(form: Form): string {
  return symbolNameOf(elementsOf(form)[0]);
}
