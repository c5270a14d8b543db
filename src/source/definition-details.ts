/** Reads the parts of a definition: its lambda list, and the slots and accessors of a class or structure. */

import {
  type Definition,
  definedSymbol,
  definesPlace,
  definitionOf,
  methodListIndex,
  symbolInName,
} from './definition.ts';
import { elementsOf, type Form, readForm, symbolNameOf } from './form.ts';
import { type LambdaList, lambdaListOf } from './lambda-list.ts';

/** A definition with the parts that are needed to check calls of its function and instances of its class. */
export interface DefinitionDetails extends Definition {
  /** The symbol in the name, without its package. */
  name: string;
  /** Whether the form defines `(setf NAME)`, a function or a place. */
  setf: boolean;
  lambdaList?: LambdaList;
  /** The names, without packages, of the slots of a class or structure. */
  slots?: string[];
  /** The names, without packages, of the other functions that the form defines: readers, writers (also as
   * `(SETF NAME)`), copier and predicate. '' stands for a copier or predicate that the structure does not have. */
  accessors?: string[];
  /** The name, without its package, of the structure that this structure includes; absent when it includes none. */
  include?: string;
  /** The names of the initargs that the slots of a class have, without packages. */
  initargs?: string[];
  /** The superclasses of a class as the source writes them. */
  superclasses?: string[];
  /** The keywords of the default initargs of a class. */
  defaults?: string[];
  /** Maps the name of a structure's constructor to its lambda list; undefined when this cannot be determined. The name
   * is '' for (:CONSTRUCTOR NIL). The map of a class is empty. */
  constructors?: Map<string, LambdaList | undefined>;
}

const FUNCTIONS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFGENERIC', 'DEFINE-COMPILER-MACRO', 'DEFTYPE'];
const OTHERS: readonly string[] = [
  ...['DEFVAR', 'DEFPARAMETER', 'DEFCONSTANT', 'DEFGLOBAL', 'DEFINE-LOAD-TIME-GLOBAL'],
  ...['DEFINE-SYMBOL-MACRO', 'DEFINE-METHOD-COMBINATION'],
];
const CLASSES: readonly string[] = ['DEFCLASS', 'DEFINE-CONDITION'];

/** Returns the details of the definition that FORM makes. Returns undefined when FORM is not a definition, and when its
 * text does not show the lambda list. */
export function definitionDetails(form: Form | undefined): DefinitionDetails | undefined {
  const definition = form?.kind === 'cons' ? definitionOf(form) : undefined;
  if (form === undefined || definition === undefined) return undefined;
  const { operator, method } = definition;
  const { symbol, setf } = definedSymbol(form);
  const name = symbolNameOf(symbol);
  const elements = elementsOf(form);
  const base = { operator, name, setf, method };
  if (FUNCTIONS.includes(operator)) return withList(base, elements[2]);
  if (operator === 'DEFMETHOD') return withList(base, elements[methodListIndex(elements)]);
  if (CLASSES.includes(operator))
    return {
      ...base,
      ...classParts(elements[3]),
      superclasses: elementsOf(elements[2]).map((each) => each.text),
      defaults: defaultInitargs(elements.slice(4)),
    };
  if (operator === 'DEFSTRUCT')
    return { ...base, ...structureParts(name, elementsOf(elements[1]).slice(1), elements.slice(2)) };
  if (operator === 'DEFINE-MODIFY-MACRO') return withPlace(withList(base, elements[2]));
  if (definesPlace(operator)) return { ...base, setf: true };
  return OTHERS.includes(operator) ? base : undefined;
}

function partsOf(form: Form): readonly Form[] {
  return form.kind === 'cons' ? elementsOf(form) : [form];
}

function withList(base: DefinitionDetails, form: Form | undefined): DefinitionDetails | undefined {
  const lambdaList = lambdaListOf(form, base.operator === 'DEFMACRO');
  return lambdaList && { ...base, lambdaList };
}

/** Returns DEFINITION, a DEFINE-MODIFY-MACRO, with the place as a further required parameter of its lambda list;
 * undefined when it has no lambda list. */
function withPlace(definition: DefinitionDetails | undefined): DefinitionDetails | undefined {
  const list = definition?.lambdaList;
  return list && { ...definition, lambdaList: { ...list, required: list.required + 1 } };
}

function classParts(slots: Form | undefined): Partial<DefinitionDetails> {
  const names: string[] = [];
  const accessors: string[] = [];
  const initargs: string[] = [];
  for (const slot of elementsOf(slots)) {
    const [name, ...options] = partsOf(slot);
    names.push(symbolNameOf(name));
    for (let index = 0; index < options.length; index += 2) {
      const value = options[index + 1];
      switch (symbolNameOf(options[index])) {
        case 'READER':
          accessors.push(symbolNameOf(value));
          break;
        case 'WRITER':
          accessors.push(functionName(value));
          break;
        case 'ACCESSOR':
          accessors.push(symbolNameOf(value), `(SETF ${symbolNameOf(value)})`);
          break;
        case 'INITARG':
          initargs.push(symbolNameOf(value));
      }
    }
  }
  return { slots: names, accessors, initargs, constructors: new Map() };
}

/** Returns the text of FORM, a symbol or (SETF NAME) that names a function, without packages. */
function functionName(form: Form | undefined): string {
  const [, place] = elementsOf(form);
  return place ? `(SETF ${symbolNameOf(place)})` : symbolNameOf(form);
}

function defaultInitargs(options: readonly Form[]): string[] {
  const given = options.map(elementsOf);
  const [, ...values] = given.find(([key]) => symbolNameOf(key) === 'DEFAULT-INITARGS') ?? [];
  return values.filter((_, index) => index % 2 === 0).map(symbolNameOf);
}

function structureParts(
  name: string,
  optionForms: readonly Form[],
  body: readonly Form[],
): Partial<DefinitionDetails> {
  const options = optionForms.map(partsOf);
  const option = (wanted: string) => options.find(([key]) => symbolNameOf(key) === wanted);
  // A documentation string has no name, so it is left out.
  const slots = body.map(partsOf).filter(([slot]) => symbolNameOf(slot) !== '');
  const slotNames = slots.map(([slot]) => symbolNameOf(slot));
  // :CONC-NAME without a value means no prefix.
  const concName = option('CONC-NAME');
  const prefix = concName ? nameOr(concName, '') : `${name}-`;
  const accessors = slots.flatMap(([slot, , ...slotOptions]) => {
    const reader = prefix + symbolNameOf(slot);
    return isReadOnly(slotOptions) ? [reader] : [reader, `(SETF ${reader})`];
  });
  const include = nameOr(option('INCLUDE'), '');
  const keywordList: LambdaList = {
    required: 0,
    optional: 0,
    rest: false,
    keys: slotNames,
    // Other keywords may be valid too: the text does not show the slots of an included structure.
    otherKeys: option('INCLUDE') !== undefined,
  };
  const constructors = options.filter(([key]) => symbolNameOf(key) === 'CONSTRUCTOR');
  // Like the option (:CONSTRUCTOR): it has no name and no lambda list.
  const usualConstructor: readonly (Form | undefined)[] = [undefined];
  return {
    slots: slotNames,
    ...(include !== '' && { include }),
    accessors: [
      ...accessors,
      nameOr(option('COPIER'), `COPY-${name}`),
      nameOr(option('PREDICATE'), `${name}-P`),
    ],
    constructors: new Map(
      (constructors.length > 0 ? constructors : [usualConstructor]).map((each) => {
        const lambdaList = each[2];
        const accepted = lambdaList ? lambdaListOf(lambdaList) : keywordList;
        return [nameOr(each, `MAKE-${name}`), accepted];
      }),
    ),
  };
}

function isReadOnly(options: readonly Form[]): boolean {
  const index = options.findIndex((each) => symbolNameOf(each) === 'READ-ONLY');
  return index !== -1 && symbolNameOf(options[index + 1]) !== 'NIL';
}

/** Returns the name in a structure's OPTION; USUAL when it is absent or empty, '' when it is NIL. */
function nameOr(option: readonly (Form | undefined)[] | undefined, usual: string): string {
  const form = option?.[1];
  if (form === undefined) return usual;
  const name = symbolNameOf(form);
  return name === 'NIL' ? '' : name;
}

/** Operators of definitions whose lambda list shows how to write a call. */
const DEFINERS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFTYPE'];

/** Returns the name and the lambda list of the definition at START of SOURCE, on one line without comments. The name
 * has no package: it is `NAME` or `(SETF NAME)`. Returns undefined for other forms, and when a part of the list is
 * conditional (#+), evaluated by the reader (#.) or shared (#1=). */
export function definedLambdaList(
  source: string,
  start: number,
): { name: string; lambdaList: string } | undefined {
  const form = readForm(source, start);
  const [definer, defined, list] = form?.elements ?? [];
  if (form?.start !== start || !DEFINERS.includes(symbolNameOf(definer)) || list?.notation !== '(')
    return undefined;
  const { symbol, setf } = symbolInName(defined);
  const name = setf ? `(SETF ${symbolNameOf(symbol)})` : symbolNameOf(defined);
  const isClosed = list.tree.tokenAfterList(list.firstToken) !== undefined;
  return name && isClosed && !/#[+.\d-]/.test(list.oneLine) ? { name, lambdaList: list.oneLine } : undefined;
}
