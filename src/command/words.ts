// Converts the words of a command line to the arguments of a tool, by the tool's parameters.

import { messageOf, UsageError } from '../errors.ts';
import { isObject } from '../json.ts';
import { type Signature, validateArguments } from '../kernel/schema.ts';
import { type Arguments, usageOf } from './verbs.ts';

/** The names and parameters of all built-in tools as JSON, with the parameter that names the image of a session with
 *  several. The build defines this. */
declare const BUILT_IN_SIGNATURES: string;

/** The JSON schema of a tool's parameter. */
interface OptionType {
  type?: string;
  items?: { type?: string };
}

export type OptionTypes = { readonly [name: string]: OptionType };

/** Returns the signature of the built-in TOOL; undefined when it is none. */
function signatureOf(tool: string): Signature | undefined {
  return (JSON.parse(BUILT_IN_SIGNATURES) as Signature[]).find(({ name }) => name === tool);
}

/** Returns the parameters of the built-in TOOL by their names; undefined when it is none. */
export function parametersOf(tool: string): OptionTypes | undefined {
  const signature = signatureOf(tool);
  return signature && Object.fromEntries(signature.parameters.map((each) => [each.name, each]));
}

/** Throws a UsageError when ARGS are wrong for the built-in TOOL. If the words of VERB gave them, the error names an
 *  option instead of a parameter. */
export function checkArguments(tool: string, args: Arguments, verb?: string): void {
  const signature = signatureOf(tool);
  try {
    if (signature !== undefined) validateArguments(signature, args);
  } catch (error) {
    const text = messageOf(error);
    if (verb === undefined) throw new UsageError(text);
    if (text.startsWith('Required parameter')) throw wrongUse(verb);
    throw new UsageError(text.replace(/^Parameter '(\w+)'/, (_, name) => `The option ${optionOf(name)}`));
  }
}

/** Returns the error that the words of VERB are wrong. */
export function wrongUse(verb: string): UsageError {
  return new UsageError(`Usage: live-lisp ${usageOf(verb)}`);
}

function optionOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}

/** Returns the error that the option for the parameter NAME is given twice. */
export function givenTwice(name: string): UsageError {
  return new UsageError(`The option ${optionOf(name)} is given twice; give it once.`);
}

/** Splits WORDS into options and operands, and returns the arguments that the options give. PARAMETERS are
 *  those of the tool that VERB calls. SHORT maps options without a value to the arguments that they stand
 *  for. With a value, such an option names a parameter. Throws a UsageError for an unknown option, one
 *  without a value, or one that is given twice. */
export function argumentsOf(
  words: readonly string[],
  parameters: OptionTypes,
  verb: string,
  short: { readonly [name: string]: Arguments } = {},
): { operands: string[]; args: { [name: string]: unknown } } {
  const operands: string[] = [];
  const args: { [name: string]: unknown } = {};
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') return { operands: [...operands, ...rest], args };
    if (!/^--.|^-[a-z]$/i.test(word)) {
      operands.push(word);
      continue;
    }
    const [option = '', attached] = word.replace(/^--?/, '').split(/=(.*)/s);
    const name = option.replaceAll('-', '_');
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const stands = Object.hasOwn(short, option) ? short[option] : undefined;
    if (stands !== undefined && attached === undefined) {
      Object.assign(args, stands);
      continue;
    }
    if (parameter === undefined && stands !== undefined)
      throw new UsageError(`The option --${option} takes no value.`);
    if (parameter === undefined) throw unknownOption(word, verb, { ...short, ...parameters });
    const text = attached ?? (parameter.type === 'boolean' ? 'true' : rest.shift());
    if (text === undefined) throw new UsageError(`The option --${option} needs a value.`);
    const value = parsedValue(text, parameter);
    if (parameter.type !== 'array' && Object.hasOwn(args, name)) throw givenTwice(name);
    args[name] = Array.isArray(value) ? [...((args[name] as unknown[] | undefined) ?? []), ...value] : value;
  }
  return { operands, args };
}

/** Returns the arguments that WORDS give to the TOOL of the verb `call`, which has PARAMETERS. WORDS are one JSON object,
 *  or words of the form NAME=VALUE. */
export function namedArguments(words: readonly string[], parameters: OptionTypes, tool: string): Arguments {
  const [first = '', ...more] = words;
  const object = more.length === 0 ? jsonOr(first, undefined) : undefined;
  if (isObject(object)) return object;
  const wrong = words.find((word) => !/^[a-z][a-z0-9_-]*=/i.test(word));
  if (wrong !== undefined)
    throw new UsageError(
      `The command call takes NAME=VALUE or one JSON object behind the tool, not ${wrong.slice(0, 80)}.`,
    );
  const options = words.map((word) => `--${word}`);
  return argumentsOf(options, parameters, `call ${tool}`).args;
}

function unknownOption(word: string, verb: string, options: object): UsageError {
  const known = Object.keys(options).map(optionOf).join(', ') || 'no option';
  return new UsageError(`The command ${verb} has no option ${word.replace(/=.*/s, '')}; it takes ${known}.`);
}

/** Converts TEXT to a value of the type of a parameter; for an array, to the list of its further elements. A text of
 *  another type stays a text, which the check of the arguments refuses. */
function parsedValue(text: string, { type, items }: OptionType): unknown {
  if (type === 'string') return text;
  const isWord = type === 'array' && (items?.type ?? 'string') === 'string';
  const value = isWord ? text : jsonOr(text, text);
  return type === 'array' ? [value].flat() : value;
}

function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
