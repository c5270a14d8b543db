// Decides how code outside functions that uses a name is called: by what its top-level form defines, or where it is.

import type { Caller } from '../../image/wire/data.ts';
import { bare } from '../../source/lexer.ts';
import type { Mention } from '../../source/names.ts';
import { hasParts, partAt } from '../../source/parts.ts';
import { bareOf, qualified } from '../../source/qualified.ts';
import type { SourcePosition } from '../../source/text.ts';
import type { TopLevelForm } from '../../source/top-level.ts';
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

/** What code outside functions is called, its kind, and where in it the name stands. */
export interface Outside {
  name: string;
  kind?: string;
  /** Whether it is a part of a definition that runs when that is made. */
  part?: boolean;
  possible?: boolean;
  sites?: { at: string; text: string }[];
}

/** What is asked about: the name USED without its package, and whether it is of a VARIABLE. The FEATURES of the image, what
 *  else its PACKAGES are called, and whether SITES are wanted. */
export interface Asked {
  used: string;
  packages: Readonly<Record<string, string>>;
  sites: boolean;
  variable: boolean;
}

/** Forms that say something of names, and use none. */
const SAYING: ReadonlySet<string> = new Set([
  ...['DECLAIM', 'PROCLAIM', 'IN-PACKAGE', 'DEFPACKAGE', 'EXPORT', 'UNEXPORT', 'IMPORT', 'SHADOW'],
  ...['SHADOWING-IMPORT', 'INTERN', 'UNINTERN'],
]);

/** Returns how the row CALLER reads, which is code outside functions, or undefined when it is none. What only mentions the
 *  name is left out when another row has TOLD its own. */
export function outside(
  caller: Caller,
  asked: Asked,
  places: Places,
  told: ReadonlySet<string>,
): Outside | undefined {
  const { file, form: number = -1, operator, kind, name = '', possible = false } = caller;
  if (operator !== undefined)
    return possible && told.has(name)
      ? undefined
      : {
          name,
          ...(possible ? { kind: generalKind(operator), possible } : { kind: kind ?? kindOf(operator) }),
        };
  if (file === undefined) return { name, ...(kind && { kind }), ...(possible && { possible }) };
  const forms = places.forms(file);
  const shown = places.fileName(file);
  const form = forms?.list[number];
  if (forms && form && isUse(form, caller, asked, forms)) {
    const described = describedForm(form, caller, asked, forms, shown);
    return possible && told.has(described.name) ? undefined : described;
  }
  if (forms && (possible || asked.variable)) return undefined;
  return { name: `top-level form of ${shown}`, ...(possible && { possible }) };
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

function describedForm(
  form: TopLevelForm,
  { names = [], possible }: Caller,
  { used, packages, sites }: Asked,
  forms: Forms,
  file: string,
): Outside {
  const line = forms.position(form.start).line;
  const home = packages[form.home] ?? form.home;
  const name = form.name && qualified(form.name, home);
  const defined = name && (names.find((each) => each === name || bareOf(each) === bareOf(name)) ?? name);
  const isDefinition =
    defined &&
    bareOf(defined) !== used &&
    (KINDS.has(form.operator) ||
      form.operator.startsWith('DEF') ||
      // A list there can be a call.
      (names.includes(defined) && !forms.names.in(form, bareOf(defined)).uses.some(({ called }) => called)));
  const uses = usesIn(form, used, forms);
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

/** Returns where FORM uses USED. The name of what it defines, such as a test that is called as what it tests, is no use
 *  where there is a call. */
function usesIn(form: TopLevelForm, used: string, { names }: Forms): Mention[] {
  const { uses } = names.in(form, used);
  const [first, ...others] = uses;
  const isName = bare(form.name ?? '') === used && first?.called === false;
  return isName && others.some(({ called }) => called) ? others : uses;
}

/** Returns PLACE, of a form whose text does not have the use, with a note of that. */
function inExpansion(place: SourcePosition): SourcePosition {
  return { ...place, text: `${place.text} ${IN_EXPANSION}` };
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
