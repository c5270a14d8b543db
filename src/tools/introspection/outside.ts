// Decides how code outside functions that uses a name is called: by what its top-level form defines, or where it is.

import type { Caller } from '../../image/wire/data.ts';
import { bare } from '../../source/lexer.ts';
import { mentionsIn, partsOf, qualified, type TopLevelForm } from '../../source/top-level.ts';
import type { Forms, Places } from '../places.ts';

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
const RUN_AT_LOAD = new Set(['initial value']);

/** What code outside functions is called, its kind, and where in it the name stands. */
export interface Outside {
  name: string;
  kind?: string;
  possible?: boolean;
  sites?: { at: string; text: string }[];
}

/** What is asked about: the name USED without its package, and whether it is of a VARIABLE. The FEATURES of the image, what
 *  else its PACKAGES are called, and whether SITES are wanted. */
export interface Asked {
  used: string;
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

/** Returns what code outside functions there is for the row CALLER. It can be several forms of a file of which SBCL has
 *  made one piece of code. Those are told that name what is used, and are not in TOLD, the names and places of other rows. */
export function outside(caller: Caller, asked: Asked, places: Places, told: ReadonlySet<string>): Outside[] {
  const { file, form, operator, kind, name = '', possible = false } = caller;
  if (operator !== undefined && possible && told.has(name)) return [];
  if (operator !== undefined) return [{ ...named(name, operator), ...(possible && { possible }) }];
  if (file === undefined) return [{ name, ...(kind && { kind }), ...(possible && { possible }) }];
  const forms = places.forms(file, asked.features);
  const shown = places.fileName(file);
  const unknown = { name: `top-level form of ${shown}`, ...(possible && { possible }) };
  if (forms === undefined) return [unknown];
  const found =
    form === undefined ? candidatesIn(forms, caller, asked.used) : forms.list.slice(form, form + 1);
  const described = found
    .filter((each) => isUse(each, caller, asked, forms.text))
    .filter((each) => form !== undefined || !told.has(`${file} ${each.number}`))
    .filter((each) => form !== undefined || !isWithin(forms, each, asked.used, told))
    .map((each) => describedForm(each, caller, asked, forms, shown))
    .filter((each) => (form !== undefined && !possible) || !told.has(each.name));
  return described.length > 0 || possible || asked.variable ? described : [unknown];
}

/** Tells whether USED stands in FORM only within definitions in it of what is TOLD. */
function isWithin(forms: Forms, form: TopLevelForm, used: string, told: ReadonlySet<string>): boolean {
  const names = new Set([...told].map(bareOf));
  const inner = forms.defined(form).filter(({ name, depth }) => depth > 0 && names.has(name.toUpperCase()));
  if (inner.length === 0) return false;
  const { uses } = mentionsIn(forms.text, form, used);
  return uses.every(({ index }) => inner.some(({ start, end }) => index >= start && index < end));
}

/** Tells whether FORM of SOURCE can be what CALLER tells of a use of USED. What only mentions it must not be about it. */
function isUse(
  form: TopLevelForm,
  { possible, changed }: Caller,
  { used, variable }: Asked,
  source: string,
): boolean {
  if ((possible || variable) && (SAYING.has(form.operator) || bare(form.name ?? '') === used)) return false;
  const { uses, definitions } = mentionsIn(source, form, used);
  return uses.length > 0 || (!changed && !(possible && definitions > 0));
}

/** Gives the forms of several that CALLER is about and that use USED. A call in them is one of that, or has it as an
 *  argument. When no such call is known, or it is only data, all are that have it and no code of their own. */
function candidatesIn(
  { text, list, subForm }: Forms,
  { calls = [], possible = false }: Caller,
  used: string,
): TopLevelForm[] {
  const called = new Set(
    calls.filter(([form, number]) => isIn(text, subForm(list[form], number), used)).map(([form]) => form),
  );
  if (called.size > 0 && !possible) return list.filter(({ number }) => called.has(number));
  return list.filter((form) => {
    if (called.has(form.number) || !RUN_AT_LOAD.has(KINDS.get(form.operator) ?? 'initial value'))
      return false;
    const { uses } = mentionsIn(text, form, used);
    return possible ? uses.some((use) => !use.called) : uses.length > 0;
  });
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
    (KINDS.has(form.operator) || form.operator.startsWith('DEF') || names.includes(defined));
  const at = mentionsIn(forms.text, form, used).uses.map(({ index }) => forms.position(index));
  return {
    ...(isDefinition ? named(defined, form.operator) : { name: `top-level form at ${file}:${line}` }),
    ...(possible && { possible }),
    ...(sites && {
      sites: (at.length > 0 ? at : [forms.position(form.start)]).map((place) => ({
        at: `${file}:${place.line}:${place.column}`,
        text: place.text,
      })),
    }),
  };
}

function bareOf(name: string): string {
  return name.replace(/^.*?::/s, '');
}

function named(name: string, operator: string): Outside {
  return { name, kind: KINDS.get(operator) ?? operator.toLowerCase() };
}
