// Parses names of definitions: symbols, (setf NAME), strings, and forms such as (defmethod area (circle)).

import { CallError } from '../../errors.ts';
import { definesPlace, definitionOf, methodsMeant } from '../../source/definition.ts';
import { elementsOf, symbolNameOf } from '../../source/form.ts';
import { packageNamed } from '../../source/symbol-text.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';

/** A definition that a call names. `name` is the name as written in the call. `symbol` is its symbol without
 * package: `NAME` or `SETF NAME`. */
export interface DefinitionQuery {
  name: string;
  symbol: string;
  /** The methods that the form can mean, each as qualifiers and specializers without packages. There can be two,
   * because the list in a form can be a lambda list or specializers. */
  methods?: readonly string[];
  /** The operator, such as DEFUN, when the call gave a form. */
  operator?: string;
  /** The form, on one line, when the call gave a form. */
  head?: string;
}

/** Maximum number of characters of the names in a call. */
const LIMIT = 20_000;

/** Returns the definitions that TEXT, the value of PARAMETER, names. Throws a CallError when TEXT is empty,
 * too long or cannot be read. */
export function parseQueries(text: string, parameter = 'name'): DefinitionQuery[] {
  if (text.length > LIMIT)
    throw new CallError(
      `Parameter '${parameter}' has ${text.length} characters; the limit is ${LIMIT}. Give names, not the text of definitions.`,
    );
  const forms = new TopLevelForms(new SourceText(text), new Set());
  const queries = forms.allExtents().map(({ start }) => queryAt(forms, start));
  if (queries.length > 0) return queries;
  throw new CallError(
    `Parameter '${parameter}' contains no name. Give symbols, or lists such as (setf area) or (defmethod area (circle)).`,
  );
}

/** The name to look up in the image. `form` is the form that the call gave; undefined when the call gave only a
 * name. */
export interface AskedDefinition {
  name: string;
  form?: DefinitionQuery;
}

/** Returns the name in TEXT, or the name that the form in TEXT, such as `(defmethod area (circle))`, defines. Throws a
 * CallError when the form defines nothing. */
export function askedDefinition(text: string): AskedDefinition {
  const [form, ...others] = text.trimStart().startsWith('(') ? parseQueries(text) : [];
  if (form?.operator === undefined || others.length > 0) return { name: text };
  return { name: definesPlace(form.operator) ? `(setf ${form.name})` : form.name, form };
}

/** Does the same as askedDefinition. But when TEXT is a form that defines nothing, returns TEXT as the name. The lookup
 * then finds no such name, and the call does not fail. */
export function soughtDefinition(text: string): AskedDefinition {
  try {
    return askedDefinition(text);
  } catch {
    return { name: text };
  }
}

/** Returns the package prefix of the name as the reader would read it; undefined when the name has none. */
export function prefixOf({ name }: DefinitionQuery): string | undefined {
  const [, written] = /^(?:\((?:cl:)?setf\s+)?((?:[^\s:()"|\\]|\\.|\|[^|]*\|)+)::?[^:]/i.exec(name) ?? [];
  return written && packageNamed(written);
}

function queryAt(forms: TopLevelForms, start: number): DefinitionQuery {
  // The name in 'AREA and #'AREA is the form after the quote.
  const whole = forms.formFrom(start);
  const form = whole?.inner ?? whole;
  const text = (form?.text ?? '').trim();
  const [first, second, third] = elementsOf(form);
  if (form?.notation === 'unclosed')
    throw new CallError(`${text} is incomplete. Give a symbol or a whole list.`);
  if (form === undefined || first === undefined)
    return { name: text, symbol: symbolNameOf(form) || text.replace(/^"|"$/g, '').toUpperCase() };
  const isSetf = symbolNameOf(first) === 'SETF' && second !== undefined && third === undefined;
  if (isSetf) return { name: text, symbol: `SETF ${symbolNameOf(second)}` };
  const definition = definitionOf(form);
  const nameText = second?.text;
  const operator = symbolNameOf(first);
  if (nameText?.startsWith('"') && operator !== '')
    return { name: nameText, symbol: nameText.slice(1, -1).toUpperCase(), operator };
  if (nameText === undefined || definition === undefined) {
    throw new CallError(
      `${text} names no definition. Give a symbol, (setf area), or (defmethod area (circle)).`,
    );
  }
  const methods = methodsMeant(form);
  return {
    name: nameText,
    symbol: definition.name,
    operator,
    head: form.oneLine,
    ...(methods.length > 0 && { methods }),
  };
}
