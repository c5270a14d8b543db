// Decides how code outside functions that uses a name is called: by what its top-level form defines, or where it is.

import type { Caller } from '../../image/wire/data.ts';
import { bare } from '../../source/lexer.ts';
import type { Mention } from '../../source/names.ts';
import { hasParts, partAt } from '../../source/parts.ts';
import type { SourcePosition } from '../../source/text.ts';
import { partsOf, qualified, type TopLevelForm } from '../../source/top-level.ts';
import { groupBy } from '../grouping.ts';
import { type Forms, IN_EXPANSION, type Places } from '../places.ts';

/** What runs outside functions when a form of the language defines something. */
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
  ['DEFUN', 'load-time value'],
  ['DEFMACRO', 'load-time value'],
  ['DEFMETHOD', 'load-time value'],
  ['DEFGENERIC', 'load-time value'],
]);

/** Those of them that SBCL runs as they stand; of the others it makes code with a name, which is told by that. */
const RUN_AT_LOAD = new Set(['initial value', 'symbol macro']);

/** What code outside functions is called, its kind, and where in it the name stands. */
export interface Outside {
  name: string;
  kind?: string;
  /** Whether it is a part of a definition that runs when that is made. */
  part?: boolean;
  possible?: boolean;
  sites?: { at: string; text: string }[];
}

/** What is asked about: the name USED without its package, and whether it is of a VARIABLE. MAKERS are macros that can
 *  expand into a use of it. MIXED are files of which one piece of code, of several forms, calls it and has it as data too.
 *  The FEATURES of the image, what else its PACKAGES are called, and whether SITES are wanted. */
export interface Asked {
  used: string;
  makers: readonly string[];
  mixed: ReadonlySet<string>;
  features: ReadonlySet<string>;
  packages: Readonly<Record<string, string>>;
  sites: boolean;
  variable: boolean;
}

/** Forms that say something of names, and use none. */
const SAYING: ReadonlySet<string> = new Set([
  ...['DECLAIM', 'PROCLAIM', 'IN-PACKAGE', 'DEFPACKAGE', 'EXPORT', 'UNEXPORT', 'IMPORT', 'SHADOW'],
  ...['SHADOWING-IMPORT', 'INTERN', 'UNINTERN'],
]);

/** Returns the symbol of NAME, `PACKAGE::NAME` or `PACKAGE::(SETF NAME)`, without its package. */
export function symbolIn(name: string): string {
  return name.replace(/^.*?::(?:\(\S+ (.*)\)$)?/s, '$1');
}

/** Returns what code outside functions there is for the row CALLER. It can be several forms of a file of which SBCL has
 *  made one piece of code. Those are told that name what is used, and are not in TOLD, the names and places of other rows. */
export function outside(caller: Caller, asked: Asked, places: Places, told: ReadonlySet<string>): Outside[] {
  const { file, form, operator, kind, name = '', possible = false } = caller;
  if (operator !== undefined && possible && told.has(name)) return [];
  if (operator !== undefined)
    return [
      {
        name,
        ...(possible ? { kind: generalKind(operator), possible } : { kind: kind ?? kindOf(operator) }),
      },
    ];
  if (file === undefined) return [{ name, ...(kind && { kind }), ...(possible && { possible }) }];
  const forms = places.forms(file, asked.features);
  const shown = places.fileName(file);
  const unknown = { name: `top-level form of ${shown}`, ...(possible && { possible }) };
  if (forms === undefined) return [unknown];
  const found = form === undefined ? candidatesIn(forms, caller, asked) : forms.list.slice(form, form + 1);
  const using = found.filter((each) => isUse(each, caller, asked, forms));
  const described = using
    .filter((each) => form !== undefined || !told.has(`${file} ${each.number}`))
    .filter((each) => form !== undefined || !isWithin(forms, each, asked.used, told))
    .map((each) => describedForm(each, caller, asked, forms, shown))
    .filter((each) => (form !== undefined && !possible) || (each.part && !possible) || !told.has(each.name));
  return using.length > 0 || possible || asked.variable ? described : [unknown];
}

/** Tells whether USED stands in FORM only within definitions in it of what is TOLD. */
function isWithin(forms: Forms, form: TopLevelForm, used: string, told: ReadonlySet<string>): boolean {
  const { uses } = forms.names.in(form, used);
  if (uses.length === 0) return false;
  const names = new Set([...told].map(bareOf));
  const inner = forms.defined(form).filter(({ name, depth }) => depth > 0 && names.has(name.toUpperCase()));
  return uses.every(({ index }) => inner.some(({ start, end }) => index >= start && index < end));
}

/** Tells whether FORM can be what CALLER tells of a use of USED. What only mentions it must not be about it. */
function isUse(
  form: TopLevelForm,
  { possible, changed }: Caller,
  { used, variable }: Asked,
  { names }: Forms,
): boolean {
  const isAbout = bare(form.name ?? '') === used && (possible || form.operator.startsWith('DEF'));
  if ((possible || variable) && (SAYING.has(form.operator) || isAbout)) return false;
  const { uses, definitions } = names.in(form, used);
  return uses.length > 0 || (!changed && !(possible && definitions > 0));
}

/** Gives the forms of several that CALLER is about and that use USED. A call in them is one of that, or has it as an
 *  argument, or is of one of the MAKERS. When no such call is known, all are that have it and no code of their own. */
function candidatesIn(forms: Forms, caller: Caller, asked: Asked): TopLevelForm[] {
  const { file = '', calls = [], possible = false } = caller;
  const { text, list, names, subForm } = forms;
  const { used, makers, mixed, variable } = asked;
  const calling = groupBy(calls, ([form]) => form);
  const isOne = ({ number }: TopLevelForm) => calling.size === 0 || calling.has(number);
  const isCalledIn = (form: TopLevelForm) =>
    calling.get(form.number)?.some(([, number]) => isIn(text, subForm(form, number), used)) ?? false;
  if (variable)
    return names
      .formsWith(used)
      .filter((form) => isAmong(form, calling) && (isRun(form) || isCalledIn(form)));
  const having = names.formsWith(used);
  const naming = having.filter((form) => isOne(form) && form.operator !== 'DEFINE-SYMBOL-MACRO');
  // What has the name as data, or passes it on, need not call anything.
  if (possible)
    return having.filter(
      (form) => (isOne(form) || isRun(form)) && hasAsData(forms, form, used, mixed.has(file)),
    );
  // Where some have it as data, those have it called.
  const fitting = naming.filter((form) => isCalled(names.in(form, used)));
  const callers = mixed.has(file) && fitting.length > 0 ? fitting : naming;
  const passing = having.filter((form) => isPassed(forms, form, used));
  const called = having.filter(
    (form) => passing.includes(form) || (callers.includes(form) && isCalledIn(form)),
  );
  const others = callers.filter((form) => !called.includes(form) && isRun(form));
  const made = makers.flatMap((maker) =>
    names.formsWith(maker).filter((form) => isOne(form) && isRun(form) && isCalled(names.in(form, maker))),
  );
  const certain = called.length + made.length > 0 ? [...new Set([...called, ...made])] : others;
  return certain.length > 0 || calling.size !== 1 ? certain : list.filter(isOne);
}

/** Tells whether FORM has #' before USED, and no code of its own: to put that into a list, say, takes no call. */
function isPassed({ text, names }: Forms, form: TopLevelForm, used: string): boolean {
  return isRun(form) && names.in(form, used).uses.some(({ index }) => text.startsWith("#'", index));
}

/** Tells whether FORM stands among those with calls in CALLING: what only sets a variable has none. */
function isAmong({ number }: TopLevelForm, calling: ReadonlyMap<number, unknown>): boolean {
  const numbers = [...calling.keys()];
  return numbers.length === 0 || (number >= Math.min(...numbers) && number <= Math.max(...numbers));
}

/** Tells whether USED is data of FORM that is in no code with a name. What reads as a call is data too, unless some code
 *  of the file calls it, so that it is MIXED. A test can be kept so. */
function hasAsData({ text, names }: Forms, form: TopLevelForm, used: string, mixed: boolean): boolean {
  const { uses } = names.in(form, used);
  // What a symbol macro stands for is data, calls in it too.
  if (form.operator === 'DEFINE-SYMBOL-MACRO') return uses.length > 0;
  if (isRun(form)) return uses.some(({ called }) => !called || !mixed);
  // The short form names a function.
  if (form.operator === 'DEFSETF') return partsOf(text, form.start).slice(2).map(bare).includes(used);
  const types = text
    .slice(form.start, form.end)
    .matchAll(/\(\s*(?:[^\s()"';]*:)?satisfies\s+([^\s()"';]+)\s*\)/gi);
  return [...types].some(([, name = '']) => name.toUpperCase().replace(/^.*:/s, '') === used);
}

/** Tells whether FORM is run as it stands and can use names, or have them as data. */
export function runsOnce(form: TopLevelForm): boolean {
  return isRun(form) && !SAYING.has(form.operator);
}

/** Tells whether FORM has no code of its own, so that SBCL runs it as it stands. */
function isRun({ operator }: TopLevelForm): boolean {
  return RUN_AT_LOAD.has(KINDS.get(operator) ?? 'initial value');
}

function isCalled({ uses }: { uses: Mention[] }): boolean {
  return uses.some(({ called }) => called);
}

/** Tells whether USED is the operator or an argument of the list at index START of SOURCE, and that defines nothing. */
function isIn(source: string, start: number | undefined, used: string): boolean {
  const names = start === undefined ? [] : partsOf(source, start).map(bare);
  return names.includes(used) && !names[0]?.startsWith('DEF');
}

function describedForm(
  form: TopLevelForm,
  { names = [], possible }: Caller,
  { used, packages, sites }: Asked,
  forms: Forms,
  file: string,
): Outside {
  const line = forms.position(form.start).line;
  const home = packages[form.home ?? ''] ?? form.home ?? 'COMMON-LISP-USER';
  const name = form.name && qualified(form.name, home);
  const defined = name && (names.find((each) => each === name || bareOf(each) === bareOf(name)) ?? name);
  const isDefinition =
    defined &&
    bareOf(defined) !== used &&
    (KINDS.has(form.operator) ||
      form.operator.startsWith('DEF') ||
      // A list there can be a call.
      (names.includes(defined) && !isCalled(forms.names.in(form, bareOf(defined)))));
  const { uses } = forms.names.in(form, used);
  const at = uses.map(({ index }) => forms.position(index));
  return {
    ...(isDefinition
      ? { name: defined, ...kindIn(forms.text, form, uses) }
      : { name: `top-level form at ${file}:${line}` }),
    ...(possible && { possible }),
    ...(sites && {
      sites: (at.length > 0 ? at : [inExpansion(forms.position(form.start))]).map((place) => ({
        at: `${file}:${place.line}:${place.column}`,
        text: place.text,
      })),
    }),
  };
}

/** Returns PLACE, of a form whose text does not have the use, with a note of that. */
function inExpansion(place: SourcePosition): SourcePosition {
  return { ...place, text: `${place.text} ${IN_EXPANSION}` };
}

function bareOf(name: string): string {
  return name.replace(/^.*?::/s, '');
}

function kindOf(operator: string): string {
  return KINDS.get(operator) ?? operator.toLowerCase();
}

/** Returns what a definition with OPERATOR is called when its part is not known. */
function generalKind(operator: string): string {
  return hasParts(operator) ? operator.toLowerCase() : kindOf(operator);
}

/** Returns what kind of code of FORM, in SOURCE, uses a name at USES: a PART of the definition, or just that. */
function kindIn(
  source: string,
  form: TopLevelForm,
  uses: readonly Mention[],
): Pick<Outside, 'kind' | 'part'> {
  if (!hasParts(form.operator)) return { kind: kindOf(form.operator) };
  const parts = uses.map(({ index }) => partAt(source, form, index));
  const [part, ...others] = new Set(parts.filter((each) => each !== undefined));
  const kind = part !== undefined && others.length === 0 ? part : generalKind(form.operator);
  return { kind, part: part !== undefined };
}
