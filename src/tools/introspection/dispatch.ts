// Finds and renders the methods that a generic function runs for given arguments.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import type { EffectiveMethodData, Place, WrittenArgument } from '../../image/wire/operations.ts';
import { fittingRows, joinSections, listText, pagedList } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { codeName } from '../../source/qualified.ts';
import { callOptions } from '../calling.ts';
import { lookedUp, packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';

/** Matches an integer, ratio or float. The image reads it, so a denominator of 0 or a long exponent does not match. */
const NUMBER_PATTERN =
  /^[+-]?(\d+(\.|\/0*[1-9]\d*)?|\d*\.\d+([esfdl][+-]?\d{1,3})?|\d+(\.\d*)?[esfdl][+-]?\d{1,3})$/i;
/** Matches the name of a symbol, with or without a package prefix. */
const NAME_PATTERN = /^(?:[^\s()"';`,|\\]|\|[^|]*\||\\.)+$/s;

/** Parses TEXT, the argument at POSITION (1-based). Throws a CallError when the argument would have to be
 * evaluated. */
function writtenArgument(text: string, position: number): WrittenArgument {
  const trimmed = text.trim();
  const eql = /^\(\s*eql\s+(.*)\)$/is.exec(trimmed);
  const quoted = /^'(.*)$|^\(\s*quote\s+(.*)\)$/is.exec((eql?.[1] ?? trimmed).trim());
  const form = (quoted?.[1] ?? quoted?.[2] ?? eql?.[1] ?? trimmed).trim();
  const string = /^"((?:[^"\\]|\\.)*)"$/s.exec(form)?.[1];
  if (string !== undefined) return { kind: 'string', text: string.replace(/\\(.)/gs, '$1') };
  if (NUMBER_PATTERN.test(form)) return { kind: 'number', text: form };
  if (form.startsWith('#\\') && form.length > 2) return { kind: 'character', text: form.slice(2) };
  const literalClass = classOfLiteral(form, quoted !== null);
  if (literalClass !== undefined) return { kind: 'name', text: literalClass };
  if (NAME_PATTERN.test(form) && !form.startsWith('#'))
    return { kind: nameKind(form, quoted !== null, eql !== null), text: form };
  throw new CallError(
    `Argument ${position}, ${text}, would have to be evaluated, which describe_symbol never does. Give the name of its class, a literal such as 3, "text" or 'name, or a variable.`,
  );
}

/** Returns the class name of FORM, a literal vector, pathname or quoted list; NIL for (). Returns undefined
 * for other forms. */
function classOfLiteral(form: string, quoted: boolean): string | undefined {
  if (/^\(\s*\)$/.test(form)) return 'common-lisp:nil';
  if (quoted && /^\(.*\)$/s.test(form)) return 'common-lisp:cons';
  if (/^#\(.*\)$/s.test(form)) return 'common-lisp:simple-vector';
  return /^#p".*"$/is.test(form) ? 'common-lisp:pathname' : undefined;
}

/** Returns how the backend takes the name FORM. `name`: as a class or, if there is none, as a variable. `symbol`: as
 * the symbol itself. `eql`, for (eql NAME): as a variable or, if there is none, as the symbol itself. */
function nameKind(form: string, quoted: boolean, eql: boolean): WrittenArgument['kind'] {
  if (quoted || form.startsWith(':')) return 'symbol';
  return eql ? 'eql' : 'name';
}

function writtenArguments(texts: readonly string[]): WrittenArgument[] {
  return texts.map((text, index) => writtenArgument(text, index + 1));
}

function withMethodPlaces({ rows = [], perhaps = [], ...data }: EffectiveMethodData, places: Places) {
  const named = (method: Place) => ({
    name: method.description,
    at: places.locate(method, { name: data.name, method: method.description }),
  });
  return {
    ...data,
    rows: rows.map(({ method, ...row }) => ({ ...named(method), ...row })),
    perhaps: perhaps.map(({ method, condition }) => ({ ...named(method), condition })),
  };
}

type Dispatch = ReturnType<typeof withMethodPlaces>;

function dispatchText(data: Dispatch, offset: number, written: readonly string[]): string {
  const { name, arglist, combination, precedence, form } = data;
  const refusal = refusalText(data, written);
  if (refusal !== undefined) return refusal;
  const argumentList = (data.arguments ?? []).join(', ');
  const head = [
    `${name} ${arglist} with ${argumentList}`,
    combination && `Method combination: ${combination}`,
    precedence && `Argument precedence: ${precedence}`,
    form && `Effective method: ${form}`,
  ];
  return joinSections([
    head.filter(Boolean).join('\n'),
    orderText(data, offset),
    perhapsText(data),
    runText(data),
  ]);
}

/** Returns a text with a form that runs the code of the method combination. Returns false unless the order of the
 * methods depends on such code, which the tool refuses to run. */
function runText({ name, problem, sources = [] }: Dispatch): string | false {
  if (problem !== 'code' && problem !== 'combination') return false;
  const argumentForms = sources.map((source) => source && sourceText(source));
  const known = argumentForms.every((text) => text !== null);
  const effectiveMethod = `(sb-mop:compute-effective-method f (sb-mop:generic-function-method-combination f) (compute-applicable-methods f (list ${known ? argumentForms.join(' ') : 'ARGUMENTS'})))`;
  const first = known ? '' : 'replace ARGUMENTS by the arguments of the call and ';
  return `To run that code, ${first}evaluate this with eval_form. Its value is the effective method, as a form:\n  (let ((f #'${codeName(name)})) ${effectiveMethod})`;
}

/** Returns a form that makes an argument. Dispatch depends only on the class, so for a class the form makes an instance
 * without values. */
function sourceText({ by, text }: NonNullable<NonNullable<EffectiveMethodData['sources']>[number]>): string {
  if (by === 'literal') return text;
  const name = text.startsWith('#') ? text : codeName(text);
  if (by === 'variable') return name;
  if (by === 'symbol') return `'${name}`;
  return `(${by === 'instance' ? 'allocate-instance' : 'sb-mop:class-prototype'} (find-class '${name}))`;
}

/** Returns the answer for the problems for which the backend returns no methods; undefined for other problems (see
 * orderHeader). */
function refusalText({ name, problem, detail, natures = [], arglist }: Dispatch, written: readonly string[]) {
  switch (problem) {
    case 'function':
      return `${name} is ${natures.length > 0 ? `a ${natures.join(' and a ').toLowerCase()}` : 'not defined'}, not a generic function: leave out 'arguments' to describe it.`;
    case 'count':
      return `${name} ${arglist} has ${detail} required ${detail === 1 ? 'argument' : 'arguments'}, but parameter 'arguments' has ${written.length}: give one for each, in order.`;
    case 'argument':
      return `Argument ${detail}, ${written[Number(detail) - 1]}, names no class and no variable with a value. Give a class, a literal, or 'NAME for the symbol itself.`;
    case 'class':
      return `The class ${detail} is not defined yet, so there is no order of methods. Define it, then ask again.`;
    case 'protocol':
      return `The program defines a method of ${detail} that decides which methods of ${name} run, and describe_symbol runs no code. To see which, trace the methods and call ${name} with eval_form.`;
    case 'specializer':
      return `${name} has methods with program-defined specializers. The program's code decides which methods apply, and describe_symbol runs no code. To see which, trace the methods and call ${name} with eval_form.`;
    default:
      return undefined;
  }
}

/** Returns the line above the methods. If DATA has a problem, these are all applicable methods; otherwise the methods
 * that a call enters. The default case is the problem `combination`: the program defines the class of the method
 * combination. */
function orderHeader({ name, total = 0, problem, detail }: Dispatch): string {
  const applicable = `The applicable methods (${total}), most specific first:`;
  switch (problem) {
    case undefined:
      return `Methods in the order in which they are entered (${total}):`;
    case 'none':
      return `No applicable method: a call of ${name} signals an error.`;
    case 'primary':
      return `No primary method: a call of ${name} signals an error. ${applicable}`;
    case 'qualifiers':
      return `The method ${detail} has qualifiers that the combination does not take: a call signals an error. ${applicable}`;
    case 'error':
      return `The method combination signals an error, and so does a call: ${detail}\n${applicable}`;
    case 'code':
      return `The method combination orders the methods by code that may have side effects (${detail}), so that code was not run. ${applicable}`;
    default:
      return `The method combination is a ${detail}; only the program's code determines the order. ${applicable}`;
  }
}

function orderText(data: Dispatch, offset: number): string {
  const rows = data.rows.map(({ name, at, from, entered }, index) => {
    const link = entered
      ? `(next method of ${from})`
      : `(not entered: ${from} has no CALL-NEXT-METHOD before it)`;
    return `${offset + index + 1}. ${name}  ${at}${from === undefined ? '' : `  ${link}`}`;
  });
  const list = pagedList(rows, offset, data.total ?? 0, 'methods');
  return [orderHeader(data), list].filter(Boolean).join('\n');
}

function perhapsText({ perhaps, perhapsCount = 0 }: Dispatch): string | false {
  if (perhapsCount === 0) return false;
  const lines = fittingRows(perhaps.map(({ name, at, condition }) => `${name}  ${at}  if ${condition}`));
  const more = lines.length < perhapsCount;
  return `Applicable only on a condition (${perhapsCount}):\n${listText(lines, more)}`;
}

/** Returns the methods that a generic function runs for the given arguments. PAGE selects a part of them. */
export async function describeCall(
  image: Image,
  places: Places,
  args: { readonly symbol: string; readonly package?: string; readonly arguments: readonly string[] },
  page: { offset: number; limit: number },
  context: CallContext,
): Promise<Result> {
  const reply = await image.call(
    'effective-method',
    { name: args.symbol, ...packageOf(args), arguments: writtenArguments(args.arguments), ...page },
    callOptions(context),
  );
  return lookedUp(reply, (found) => {
    const data = withMethodPlaces(found, places);
    return { data, text: dispatchText(data, page.offset, args.arguments) };
  });
}
