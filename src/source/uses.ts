/** Finds uses of a name in a form. A use of a function is a call, #'F or 'F; a use of a variable is any mention. */

import { isDefiner } from './definition.ts';
import { elementsOf, type Form, formsWithin, nameOf } from './form.ts';
import { PACKAGE_MARKER } from './lexer.ts';
import { nonForms, placesIn } from './syntax.ts';

/** A name whose uses are searched in a text. */
export interface SoughtName {
  name: string;
  /** True when the uses of `(setf NAME)` are searched. */
  setf?: boolean;
  variable?: boolean;
  /** The names and nicknames of the packages in which `name` is the sought symbol: its own package and those that
   * inherit or import it. Undefined when they are unknown. */
  packages?: ReadonlySet<string> | undefined;
  /** The current package of the text, in which an unqualified symbol is read; undefined when it is unknown. */
  current?: string | undefined;
}

/** Returns true when TOKEN is the sought symbol. TOKEN is the name of a symbol, with PACKAGE_MARKER in place of each
 * colon after a package prefix. If the package of TOKEN or of the sought symbol is unknown, only the names count. */
export function namesSymbol(token: string | undefined, { name, packages, current }: SoughtName): boolean {
  if (token === undefined || !token.endsWith(name)) return false;
  // \0 is PACKAGE_MARKER. The package is '' for a keyword and an uninterned symbol, which are never the sought symbol.
  const prefix = /^([^\0]*)\0{1,2}(?=.)/s.exec(token);
  const home = prefix === null ? current : prefix[1];
  if (token.slice(prefix?.[0].length ?? 0) !== name || home === '') return false;
  return home === undefined || packages === undefined || packages.has(home);
}

/** Returns true when FORM is the symbol SOUGHT. */
export function isSoughtSymbol(form: Form | undefined, sought: SoughtName): boolean {
  return form?.kind === 'atom' && namesSymbol(form.name, sought);
}

/** Returns true when FORM is the name SOUGHT in a definition: the list (setf NAME) for a setf function. */
export function isSoughtName(form: Form | undefined, sought: SoughtName): boolean {
  if (!sought.setf) return isSoughtSymbol(form, sought);
  const [setf, symbol] = elementsOf(form);
  return nameOf(setf) === 'SETF' && isSoughtSymbol(symbol, sought);
}

/** A form to search, usually a list. `depth` is the number of backquotes around it minus that of commas. `data` is true
 * in a quoted form. */
interface Pending {
  list: Form;
  depth: number;
  data: boolean;
}

/** Returns the offsets of the uses of SOUGHT in FORM, in ascending order. Returns uses in backquotes only when there
 * are no others, because they can be expansions of a local macro. */
export function usesIn(form: Form, sought: SoughtName): number[] {
  const found = { code: new Set<number>(), templates: new Set<number>() };
  const pending: Pending[] = [{ list: form, depth: 0, data: false }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { list, depth, data } = next;
    if (list.kind === 'comma' && list.inner)
      pending.push({ list: list.inner, depth: Math.max(0, depth - 1), data: false });
    if (list.kind !== 'cons') continue;
    const elements = elementsOf(list);
    if (!data)
      for (const start of usesOf(list, sought, list === form))
        found[depth > 0 ? 'templates' : 'code'].add(start);
    const quoted = data || nameOf(elements[0]) === 'QUOTE';
    const depthInside = list.isBackquote ? depth + 1 : depth;
    // In a quoted form, only the forms after commas are evaluated.
    if (quoted && depthInside === 0) continue;
    // A binding, clause or parameter does not call the function that its first element names.
    const partsOf =
      sought.variable || depthInside > 0 ? new Map<Form, readonly Form[]>() : nonForms(elements);
    for (const element of elements)
      for (const part of partsOf.get(element) ?? [element])
        pending.push({ list: part, depth: depthInside, data: quoted });
  }
  return [...(found.code.size > 0 ? found.code : found.templates)].sort((one, other) => one - other);
}

/** Returns the offsets where LIST itself, without the lists in it, uses SOUGHT. If LIST sets a place, it uses the setf
 * function of the place. IS_WHOLE_FORM is true when LIST is the whole form that is searched. */
function usesOf(list: Form, sought: SoughtName, isWholeForm: boolean): number[] {
  const calls = sought.setf && !namesUsed(list, sought) ? placesIn(elementsOf(list)) : [list];
  return calls.flatMap((call) => useIn(call, sought, isWholeForm) ?? []);
}

/** Returns the offset where LIST itself uses SOUGHT; undefined when it does not. This offset is the start of LIST. But
 * for a variable in the whole form (IS_WHOLE_FORM is true), it is the offset of the variable. A place (NAME ...) is a
 * use of (setf NAME). */
function useIn(list: Form, sought: SoughtName, isWholeForm: boolean): number | undefined {
  if (!sought.variable)
    return namesUsed(list, sought) || namesSymbol(list.first?.name, sought) ? list.start : undefined;
  const named = elementsOf(list).find((element) => isSoughtSymbol(element, sought));
  return isWholeForm ? named?.start : named && list.start;
}

function namesUsed(list: Form, sought: SoughtName): boolean {
  const operator = list.first?.name;
  return (operator === 'QUOTE' || operator === 'FUNCTION') && isSoughtName(elementsOf(list)[1], sought);
}

/** The position of one use of a name. `starts` are its possible offsets. They are empty when the use comes from a macro
 * expansion, so that the text does not contain it. */
export interface UsePosition {
  starts: readonly number[];
  /** True when every one of `starts` is a use; false when only some are, and it is unknown which. */
  sure: boolean;
  /** True for a use at an unknown position in the form. */
  inside?: boolean;
}

/** The uses of a name in a form, as far as SBCL has recorded them. `at`: starts of the lists that contain a use.
 * `whole`: true when a use is recorded at the form as a whole, not at a list in it. `inside`: number of uses at unknown
 * positions in the form. */
interface KnownUses {
  at: readonly number[];
  whole: boolean;
  inside: number;
}

/** Returns the positions in the text of FORM of the uses of SOUGHT that SBCL recorded there (see KnownUses). */
export function usePositionsIn(
  form: Form,
  { at, whole, inside }: KnownUses,
  sought: SoughtName,
): UsePosition[] {
  // If FORM itself uses the name, that is the use recorded at the whole form. Otherwise the use is somewhere inside.
  const itself = whole && usesOf(form, sought, true).includes(form.start);
  const exact = new Set(itself ? [form.start, ...at] : at);
  const lists = listsAt(form, exact);
  const spots: UsePosition[] = [...exact].map((start) => {
    const list = lists.get(start);
    if (list === undefined || useIn(list, sought, list === form) !== undefined)
      return { starts: [start], sure: true };
    // LIST can be a call of a macro that copies code into its expansion. SBCL records a use in such code at LIST, but
    // the use is inside of LIST. Its position is certain if LIST contains only one use.
    const [only = start, ...more] = usesIn(list, sought).filter((each) => !exact.has(each));
    return { starts: [more.length > 0 ? start : only], sure: true };
  });
  if (whole && !exact.has(form.start)) {
    const others = usesIn(form, sought).filter((start) => !exact.has(start));
    spots.push({ starts: others, sure: others.length <= 1 });
  }
  return inside > 0 ? [...spots, { starts: [], sure: false, inside: true }] : spots;
}

/** Maps each offset in STARTS to the list in FORM that begins there. If several begin at one offset, as in '(A), takes
 * the outermost. */
function listsAt(form: Form, starts: ReadonlySet<number>): ReadonlyMap<number, Form> {
  const found = new Map<number, Form>();
  for (const list of formsWithin(form))
    if (list.kind === 'cons' && starts.has(list.start) && !found.has(list.start)) found.set(list.start, list);
  return found;
}

/** A mention of a name. `index` is the index of the name, or of the `(` or #' directly before it. `called` is true when
 * `(` or #' is directly before the name, unless the form is quoted. */
export interface NameMention {
  index: number;
  called: boolean;
}

/** Returns the uses of NAME in FORM, in any package, and the number of definitions of NAME in FORM. */
export function nameMentionsIn(
  form: Form | undefined,
  name: string,
): { uses: NameMention[]; definitions: number } {
  const uses: NameMention[] = [];
  let definitions = 0;
  // The quotes and commas around PART, innermost last. formsWithin returns a form before the forms in it.
  const quotes: { end: number; quoted: boolean }[] = [];
  for (const part of form ? formsWithin(form) : []) {
    while ((quotes.at(-1)?.end ?? part.end) < part.end) quotes.pop();
    if (part.notation === "'" || part.notation === ',')
      quotes.push({ end: part.end, quoted: part.notation === "'" });
    if (part.symbolName !== name || part.name?.startsWith(PACKAGE_MARKER)) continue;
    const before = elementBefore(part);
    const opened = part.parent?.tokenKind;
    const opening = opened === "#'" || (opened === '(' && before === undefined);
    const isDefined = part.index === 1 && opened === '(' && isDefiner(before?.symbolName ?? '');
    const isInSlot = isAccessorOption(part) || isSlot(part) || (part.index === 0 && isSlot(part.parent));
    if (isDefined || isInSlot) definitions++;
    else
      uses.push({
        index: (opening ? part.parent : part)?.start ?? 0,
        called: opening && !quotes.at(-1)?.quoted,
      });
  }
  return { uses, definitions };
}

const ACCESSOR_OPTIONS: ReadonlySet<string> = new Set(
  ['ACCESSOR', 'READER', 'WRITER'].map((name) => PACKAGE_MARKER + name),
);

/** Returns true when PART is a slot in the form of a class or condition: NAME or (NAME OPTION...). */
function isSlot(part: Form | undefined): boolean {
  const slots = part?.parent;
  return slots?.index === 3 && SLOTTED.has(slots.parent?.first?.symbolName ?? '');
}

const SLOTTED: ReadonlySet<string> = new Set(['DEFCLASS', 'DEFINE-CONDITION']);

/** Returns true when PART is the name of an accessor in a slot option, as in (:writer (setf PART)). */
function isAccessorOption(part: Form): boolean {
  const list = part.parent;
  const name = part.index === 1 && elementBefore(part)?.symbolName === 'SETF' && list ? list : part;
  return ACCESSOR_OPTIONS.has(elementBefore(name)?.name ?? '');
}

/** Returns the element before a form in its list; undefined for the first element, and after a prefix such as a
 * quote. */
function elementBefore({ parent, index }: Form): Form | undefined {
  return parent?.inner === undefined ? parent?.elements[index - 1] : undefined;
}
