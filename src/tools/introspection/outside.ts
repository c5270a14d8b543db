// Describes a use of a name in code outside of functions. The description names the definition that contains the code
// or, if there is none, the place.

import type { Caller } from '../../image/wire/operations.ts';
import { isDefiner } from '../../source/definition.ts';
import { withoutPackage } from '../../source/lexer.ts';
import { hasParts, isReadTime, partAt } from '../../source/parts.ts';
import { qualified, unqualifiedName } from '../../source/qualified.ts';
import type { SourcePosition } from '../../source/text.ts';
import type { TopLevelDefinition, TopLevelForms } from '../../source/top-level.ts';
import { type NameMention, nameMentionsIn, usesIn } from '../../source/uses.ts';
import { type FormOf, IN_EXPANSION, type Places } from '../places.ts';

/** In the definition of a function, the kind of the code that does not run when the function is called. */
const IN_FUNCTION = 'load-time value';

/** Maps a standard defining operator to the kind of the code in its forms that runs outside of functions. */
const KINDS = new Map([
  ['DEFVAR', 'initial value'],
  ['DEFPARAMETER', 'initial value'],
  ['DEFCONSTANT', 'initial value'],
  ['DEFGLOBAL', 'initial value'],
  ['DEFCLASS', 'slot initform'],
  ['DEFINE-CONDITION', 'slot initform'],
  ['DEFSTRUCT', 'structure slot'],
  ['DEFTYPE', 'type expander'],
  ['DEFINE-COMPILER-MACRO', 'compiler macro'],
  ['DEFSETF', 'setf expander'],
  ['DEFINE-SETF-EXPANDER', 'setf expander'],
  ['DEFINE-SYMBOL-MACRO', 'symbol macro'],
  ['DEFUN', IN_FUNCTION],
  ['DEFMACRO', IN_FUNCTION],
  ['DEFMETHOD', IN_FUNCTION],
  ['DEFGENERIC', IN_FUNCTION],
]);

/** Code outside functions, with the places where it uses a name. */
export interface OutsideUser {
  name: string;
  kind?: string;
  /** True for a part of a definition that is evaluated when the definition is made. */
  part?: boolean;
  /** True when the code contains the name only as data, so that it may never use the function. */
  possible?: boolean;
  sites?: { at: string; text: string }[];
}

/** A search for the uses of one name. */
export interface UseQuery {
  /** The name, without its package. */
  used: string;
  /** True for the setf function of the name. */
  setf: boolean;
  /** Maps nicknames of packages to names. */
  packages: Readonly<Record<string, string>>;
  /** True when the result has the line of each use. */
  sites: boolean;
  /** True to find uses as a variable, false to find uses as a function. */
  variable: boolean;
}

/** Operators of forms that declare names, but do not use them. */
const DECLARING_OPERATORS: ReadonlySet<string> = new Set([
  ...['DECLAIM', 'PROCLAIM', 'IN-PACKAGE', 'DEFPACKAGE', 'EXPORT', 'UNEXPORT', 'IMPORT', 'SHADOW'],
  ...['SHADOWING-IMPORT', 'INTERN', 'UNINTERN'],
]);

/** Returns the description of CALLER, code outside of functions; undefined when it does not use the name. KNOWN_NAMES
 * are the names of the users that the answer shows already. If CALLER has one of these names, and contains the sought
 * name only as data, also returns undefined. */
export function outsideUser(
  caller: Caller,
  query: UseQuery,
  places: Places,
  knownNames: ReadonlySet<string>,
): OutsideUser | undefined {
  const { file, operator, kind, name = '', possible } = caller;
  // The backend knows only the name of the caller, not its form.
  if (operator === undefined && file === undefined)
    return { name, ...(kind && { kind }), ...(possible && { possible }) };
  const user = operator === undefined ? userInFile(caller, query, places) : evaluatedUser(caller, operator);
  return possible && user && knownNames.has(user.name) ? undefined : user;
}

/** Returns the description of CALLER, a form with OPERATOR that is in no file because it was evaluated. */
function evaluatedUser({ name = '', kind, possible }: Caller, operator: string): OutsideUser {
  return possible
    ? { name, kind: generalKind(operator), possible }
    : { name, kind: kind ?? kindOf(operator) };
}

/** Returns the description of CALLER, a top-level form of a file; undefined when it does not use the name. */
function userInFile(caller: Caller, query: UseQuery, places: Places): OutsideUser | undefined {
  const { file = '', possible } = caller;
  const fileName = places.fileName(file);
  const found = places.formOf(caller);
  if (found && isUse(found, caller, query)) return userAtForm(found, caller, query, fileName);
  // The text of the form does not show the use, or is missing. Without a text, SBCL's record is believed. With a text,
  // the record is believed only about a call of a function, because the call can come from the expansion of a macro.
  if (places.sourceText(file) && (possible || query.variable)) return undefined;
  return { name: `top-level form of ${fileName}`, ...(possible && { possible }) };
}

/** Returns true when the found form may contain the use that SBCL has recorded. A form that is the same as when it was
 * loaded may contain the use only in a macro expansion. If the use is one as data or as a variable, a form that defines
 * the name does not count. */
function isUse({ form, forms, same }: FormOf, { possible }: Caller, { used, variable }: UseQuery): boolean {
  const asDataOrVariable = possible || variable;
  const isAbout = withoutPackage(form.name ?? '') === used && (possible || isDefiner(form.operator));
  if (asDataOrVariable && (DECLARING_OPERATORS.has(form.operator) || isAbout)) return false;
  const { uses, definitions } = nameMentionsIn(forms.formFrom(form.start), used);
  const isDefinition = asDataOrVariable && definitions > 0;
  return uses.length > 0 || (same && !isDefinition);
}

function userAtForm(found: FormOf, caller: Caller, query: UseQuery, file: string): OutsideUser {
  const { form, forms } = found;
  const uses = caller.possible ? mentionsIn(form, query.used, forms) : usesOf(form, query, forms);
  const indices = uses.map(({ index }) => index);
  const definition = definitionMadeBy(found, caller.names ?? [], query);
  return {
    ...(definition === undefined
      ? { name: `top-level form at ${file}:${forms.source.positionAt(form.start).line}` }
      : { name: definition, ...kindIn(forms.source.text, form, indices) }),
    ...(caller.possible && { possible: true }),
    ...(query.sites && { sites: sitesOf(found, indices, file) }),
  };
}

/** Returns the name of the definition that the form makes; undefined when it makes none, or defines the sought name.
 * RECORDED_NAMES are the symbols in the data of the form, with their packages. */
function definitionMadeBy(
  { form, forms }: FormOf,
  recordedNames: readonly string[],
  { used, packages }: UseQuery,
): string | undefined {
  if (!form.name) return undefined;
  const written = qualified(form.name, packages[form.home] ?? form.home);
  const recorded = recordedNames.find(
    (name) => name === written || unqualifiedName(name) === unqualifiedName(written),
  );
  const name = recorded ?? written;
  const bareName = unqualifiedName(name);
  if (bareName === used) return undefined;
  if (isDefiner(form.operator)) return name;
  if (recorded === undefined) return undefined;
  // A list that begins with this name can be a call. A call defines nothing.
  const { uses } = nameMentionsIn(forms.formFrom(form.start), bareName);
  return uses.some(({ called }) => called) ? undefined : name;
}

/** Returns the places at INDICES. If there are none, returns the place of the form. */
function sitesOf({ form, forms, note }: FormOf, indices: readonly number[], file: string) {
  const positions = indices.map((index) => forms.source.positionAt(index));
  const shown = positions.length > 0 ? positions : [inExpansion(forms.source.positionAt(form.start))];
  return shown.map(({ line, column, text }) => ({
    at: `${file}:${line}:${column}`,
    text: [text, note].filter(Boolean).join(' '),
  }));
}

/** Returns PLACE with the remark that the use is in a macro expansion, because the text of the form does not contain
 * it. */
function inExpansion(place: SourcePosition): SourcePosition {
  return { ...place, text: `${place.text} ${IN_EXPANSION}` };
}

/** Returns the name of the definition whose form begins at START in the text of FORMS. If the index INDEX of this text
 * is not in the body of a function, a phrase for the part at INDEX follows, as in `PACKAGE::NAME (initial value)`.
 * Returns undefined when the form is not a definition. PACKAGES maps nicknames of packages to their names. */
export function holderAt(
  forms: TopLevelForms,
  start: number,
  index: number,
  packages: UseQuery['packages'],
): string | undefined {
  const form = forms.definitionAt(start);
  if (!form.name || !isDefiner(form.operator)) return undefined;
  const name = qualified(form.name, packages[form.home] ?? form.home);
  const { kind, part } = kindIn(forms.source.text, form, [index]);
  return !part && KINDS.get(form.operator) === IN_FUNCTION ? name : `${name} (${kind})`;
}

/** Returns the uses in FORM of the name USED. If SETF is true, the name is (SETF USED), and its uses are the places
 * (USED ...) that FORM sets. */
function usesOf(form: TopLevelDefinition, { used, setf }: UseQuery, forms: TopLevelForms): NameMention[] {
  const top = setf ? forms.formFrom(form.start) : undefined;
  if (top === undefined) return mentionsIn(form, used, forms);
  return usesIn(top, { name: used, setf }).map((index) => ({ index, called: true }));
}

/** Returns the mentions of USED in FORM. If FORM defines USED and also calls it, the name in the definition does not
 * count: in (test area (is (area 2))), only the second `area` is a use. */
function mentionsIn(form: TopLevelDefinition, used: string, forms: TopLevelForms): NameMention[] {
  const { uses } = nameMentionsIn(forms.formFrom(form.start), used);
  const [first, ...others] = uses;
  const isName = withoutPackage(form.name ?? '') === used && first?.called === false;
  return isName && others.some(({ called }) => called) ? others : uses;
}

function kindOf(operator: string): string {
  return KINDS.get(operator) ?? operator.toLowerCase();
}

/** Returns a word for the code in a definition with OPERATOR, when it is not known which part of the definition has the
 * use. If such definitions have several kinds of parts, as DEFCLASS has slots, the word is the operator itself. */
function generalKind(operator: string): string {
  return hasParts(operator) ? operator.toLowerCase() : kindOf(operator);
}

/** INDICES are places in FORM that use a name. Returns a word for the code in which they are. If all are in the same
 * part of the definition, such as a slot, the word names this part, or else the kind of FORM. `part` is true when the
 * part of at least one of them is known, even if the word is the kind of FORM. */
function kindIn(
  source: string,
  form: TopLevelDefinition,
  indices: readonly number[],
): Pick<OutsideUser, 'kind' | 'part'> {
  const inFunction = kindOf(form.operator) === IN_FUNCTION && indices.length > 0;
  if (inFunction && indices.every((index) => isReadTime(source, form, index)))
    return { kind: 'read-time value', part: true };
  if (!hasParts(form.operator)) return { kind: kindOf(form.operator) };
  const parts = indices.map((index) => partAt(source, form, index));
  const [part, ...others] = new Set(parts.filter((part) => part !== undefined));
  const kind = part !== undefined && others.length === 0 ? part : generalKind(form.operator);
  return { kind, part: part !== undefined };
}
