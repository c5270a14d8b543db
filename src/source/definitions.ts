/** Finds the definitions in a Lisp text by the shape of its forms: operator, name, further elements. */

import { definitionOf, isDefiner, methodListIndex, STANDARD_DEFINERS, symbolInName } from './definition.ts';
import { elementsOf, type Form, formsWithin } from './form.ts';
import { PACKAGE_MARKER } from './lexer.ts';
import type { Extent, TopLevelForms } from './top-level.ts';
import type { Span } from './tree.ts';

/** A form that names something, as the outline of a file lists it. */
export interface OutlineEntry {
  /** UTF-16 indices where the form begins and ends. */
  start: number;
  end: number;
  /** Number of forms that contain this one, such as the EVAL-WHEN in (eval-when (...) (defun name ...)). */
  depth: number;
  /** The operator in lower case. The `name` is as written, and can be a list or a string. */
  operator: string;
  name: string;
  /** The first list after the name, such as a lambda list, preceded by any qualifiers. */
  list?: string;
  /** The first line of the docstring. */
  documentation?: string;
}

/** Returns the definitions in FORMS in text order. Forms that lack an operator or a name are left out. */
export function definitionsIn(forms: TopLevelForms): OutlineEntry[] {
  return forms.allExtents().flatMap(({ start }) => [...definedAt(forms, start)]);
}

/** Yields the definitions in the form at START of FORMS, nested ones included. */
export function* definedAt(forms: TopLevelForms, start: number): Generator<OutlineEntry, void> {
  const top = forms.formFrom(start);
  for (const { form, depth } of top ? namedForms(top) : []) yield outlineEntry(form, depth);
}

/** Returns the entry for FORM, which `namedForms` has yielded with DEPTH. */
export function outlineEntry(form: Form, depth: number): OutlineEntry {
  const [operator, name, ...rest] = elementsOf(form) as [Form, Form, ...Form[]];
  const { start, end } = form;
  const written = { operator: operator.text.toLowerCase(), name: name.oneLine };
  if (!isName(name)) return { start, end, depth, ...written };
  const [list, documentation] = [listAfter(rest), documentationIn(rest)];
  return { start, end, depth, ...written, list, documentation };
}

/** Returns the first list in REST, with up to two qualifiers before it; undefined if there is none. REST are the
 * elements after a name. */
function listAfter(rest: Form[]): string | undefined {
  // The kind of () is 'atom', and the notation of '(a b) is not '('.
  const at = rest.findIndex(({ kind, notation }) => kind === 'cons' || notation === '(');
  const parts = at === -1 || at > 2 ? [] : rest.slice(0, at + 1).map((part) => part.oneLine);
  return parts.length > 0 && parts.every((part) => !part.startsWith('"')) ? parts.join(' ') : undefined;
}

/** Returns the first line of the docstring in REST, the elements after a name; undefined when it is empty or missing. A
 * string that is the only element is a value, not a docstring. */
function documentationIn(rest: Form[]): string | undefined {
  // A qualifier and a lambda list can precede the docstring.
  const string = rest.slice(0, 3).find(({ isString }) => isString);
  // The option (:documentation ...) of a DEFCLASS, for example. The name of a keyword begins with the marker.
  const option = rest.find(
    (part) => part.notation === '(' && part.first?.name === `${PACKAGE_MARKER}DOCUMENTATION`,
  );
  const docstring = option ? elementsOf(option)[1] : rest.length > 1 ? string : undefined;
  const line = docstring?.text.slice(1, -1).trim().split('\n')[0];
  return line || undefined;
}

/** The definition to find. `name` is `NAME` or `SETF NAME`. `methods` are the accepted qualifiers and specializers, as
 * in the `method` of a Definition; undefined accepts any. */
export interface SoughtDefinition {
  name: string;
  operator?: string;
  methods?: readonly string[];
}

/** A form such as (OPERATOR NAME ...), where NAME is the name of a SoughtDefinition. It may be this definition. */
export interface NamingForm extends Extent {
  /** Start of the top-level form that is or contains this form. */
  top: number;
  /** The `operator` of the form's Definition; '' when the form has none. */
  operator: string;
  /** The `method` of the form's Definition; '' when the form has none. */
  method: string;
  /** The name as the text writes it. If this is a list with options, as in (defstruct (NAME OPTION)), its first
   * element. */
  written: string;
  /** The package that is current at the form. */
  home: string;
  /** The beginning of the form: operator, name, and for a method qualifiers and specializers. */
  head: string;
}

/** Returns all forms that name WANTED, with any operator and any method. */
export function formsNaming(forms: TopLevelForms, wanted: SoughtDefinition): NamingForm[] {
  const symbol = wanted.name.replace(/^SETF /, '');
  return [...forms.mentioning([symbol])].flatMap(({ form: top, place }) => {
    const home = forms.homeAt(top.start);
    const found = [...namedForms(top)].flatMap(({ form }) => targetOf(form, wanted, place, home) ?? []);
    // A form that begins with the name can be a binding, as in (let (table) (defun table ...)).
    const defining = found.filter(isDefining);
    return outermost(defining.length > 0 ? defining : found);
  });
}

/** Returns the forms in FORMS that WANTED may mean. If it has `methods`, these are the forms with one of these
 * qualifiers and specializers, or all forms of the name if there are no such forms and WANTED does not ask for a
 * DEFMETHOD. */
export function targetsFitting(forms: TopLevelForms, wanted: SoughtDefinition): NamingForm[] {
  const all = formsNaming(forms, wanted);
  const { operator, methods } = wanted;
  const found = methods === undefined ? all : all.filter(({ method }) => methods.includes(method));
  // `methods` comes from a list after the name. If no method fits, this list may be the lambda list of a function.
  return found.length === 0 && operator !== 'DEFMETHOD' ? all : found;
}

/** Returns the most likely of FOUND, which all fit the sought definition. If no OPERATOR is sought, definitions are
 * likelier than other forms, and a generic function is likelier than its methods. */
export function likeliest(found: readonly NamingForm[], { operator }: SoughtDefinition): NamingForm[] {
  const defining = operator === undefined ? found.filter(isDefining) : [];
  const others = defining.filter((each) => each.operator !== 'DEFMETHOD');
  return [others, defining].find(({ length }) => length > 0) ?? [...found];
}

/** Returns those of FORMS that WANTED most likely means, as `likeliest` chooses them. */
export function likeliestFormsNaming(forms: TopLevelForms, wanted: SoughtDefinition): NamingForm[] {
  return likeliest(targetsFitting(forms, wanted), wanted);
}

function isDefining({ operator }: NamingForm): boolean {
  return isDefiner(operator);
}

/** Returns those of TARGETS that are not inside another one. TARGETS are sorted by start. */
function outermost<Target extends Span>(targets: readonly Target[]): Target[] {
  let last = 0;
  return targets.filter(({ start, end }) => {
    if (start < last) return false;
    last = end;
    return true;
  });
}

/** Returns FORM as a NamingForm; undefined when it does not fit WANTED. PLACE is the extent of the top-level form
 * around it, and HOME the package there. */
function targetOf(form: Form, wanted: SoughtDefinition, place: Extent, home: string): NamingForm | undefined {
  const [operator, name, ...rest] = elementsOf(form) as [Form, Form, ...Form[]];
  const definition = definitionOf(form);
  // A string is a name too, as in (defsystem "name" ...), but it makes no Definition.
  const ownName = definition?.name ?? (name.isString ? name.text.slice(1, -1).toUpperCase() : undefined);
  const ownOperator = definition?.operator ?? operator.text.toUpperCase();
  if (ownName !== wanted.name || (wanted.operator ?? ownOperator) !== ownOperator) return undefined;
  const parts = definition?.operator === 'DEFMETHOD' ? rest.slice(0, methodListIndex(rest, 0) + 1) : [];
  const symbol = isName(name) ? name : (elementsOf(name)[0] ?? name);
  return {
    start: form.start,
    end: form.end,
    fullStart: form.start === place.start ? place.fullStart : (form.featureStart ?? form.start),
    top: place.start,
    operator: definition?.operator ?? '',
    method: definition?.method ?? '',
    written: symbol.oneLine,
    home,
    head: `(${[operator, name, ...parts].map((part) => part.oneLine).join(' ')})`,
  };
}

/** Returns the span of the only list that defines SYMBOL in the top-level form at START. If none or several do, returns
 * the span of the whole form. Returns undefined when no form begins at START. If the form is a standard definition,
 * such as a DEFSTRUCT, only lists in it whose operator begins with DEF count. Other lists, such as options, do not. */
export function innermostDefining(forms: TopLevelForms, start: number, symbol: string): Span | undefined {
  const whole = forms.formFrom(start);
  if (whole === undefined || definitionOf(whole)?.name === symbol) return whole;
  const standard = STANDARD_DEFINERS.has(definitionOf(whole)?.operator ?? '');
  const inner = [...formsWithin(whole)].filter(
    (form) =>
      form.kind === 'cons' &&
      definitionOf(form)?.name === symbol &&
      !form.first?.name?.startsWith(PACKAGE_MARKER) &&
      (!standard || isDefiner(form.first?.symbolName ?? '')),
  );
  const [only = whole, ...more] = outermost(inner);
  return more.length > 0 ? whole : only;
}

/** The maximum depth at which definitions are searched for, as in (eval-when (...) (defun ...)). */
const DEPTH = 3;

/** Yields FORM if it is a list whose operator is no keyword and that has a second element. If this element cannot be a
 * name, also yields such lists inside FORM, as in (let (...) (defun name ...)). This is a generator because a table of
 * data can look like very many definitions. */
export function* namedForms(form: Form, depth = 0): Generator<{ form: Form; depth: number }, void> {
  const [operator, name, ...rest] = form.tokenKind === '(' ? elementsOf(form) : [];
  if (name === undefined || operator?.kind !== 'atom') return;
  if (!operator.name || operator.name.startsWith(PACKAGE_MARKER)) return;
  const mayContainOthers = !isName(name) && depth < DEPTH;
  const inner = namedFormsIn(mayContainOthers ? [name, ...rest] : [], depth + 1);
  const first = inner.next();
  // An inner form that has no name and contains no named form is most likely a clause or a binding.
  if (first.done && depth > 0 && !isName(name) && !isDefiner(operator.symbolName)) return;
  yield { form, depth };
  if (!first.done) yield first.value;
  yield* inner;
}

function* namedFormsIn(forms: readonly Form[], depth: number): ReturnType<typeof namedForms> {
  for (const form of forms) yield* namedForms(form, depth);
}

/** Returns true when PART, the element after an operator, can be a name: an atom, or (setf NAME). */
function isName(part: Form): boolean {
  return part.notation !== '(' || symbolInName(part).setf;
}
