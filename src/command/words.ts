// Converts the words of a command line to arguments of a tool, according to the tool's parameters.

import { messageOf, UsageError } from '../errors.ts';
import { isObject } from '../json.ts';
import { type Signature, validateArguments } from '../kernel/schema.ts';
import { type Arguments, usageOf } from './verbs.ts';

/** The signatures of all built-in tools, as JSON. They include the parameter `image`, which tools have in sessions with
 * several images. The build defines this constant. */
declare const BUILT_IN_SIGNATURES: string;

/** The JSON schema of a parameter. */
interface OptionType {
  type?: string;
  items?: { type?: string };
}

export type OptionTypes = { readonly [name: string]: OptionType };

/** Returns the signature of TOOL; undefined when TOOL is not built in. */
function signatureOf(tool: string): Signature | undefined {
  return (JSON.parse(BUILT_IN_SIGNATURES) as Signature[]).find(({ name }) => name === tool);
}

/** Returns the parameters of TOOL by name; undefined when TOOL is not built in. */
export function parametersOf(tool: string): OptionTypes | undefined {
  const signature = signatureOf(tool);
  return signature && Object.fromEntries(signature.parameters.map((each) => [each.name, each]));
}

/** Throws a UsageError when ARGS are wrong for the built-in TOOL. With VERB, the message names options instead of
 * parameters, because the user typed options. */
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

/** Returns an error that shows the usage of VERB. */
export function wrongUse(verb: string): UsageError {
  return new UsageError(`Usage: live-lisp ${usageOf(verb)}`);
}

function optionOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}

/** Returns the error for a command line with two options for the parameter NAME. */
export function givenTwice(name: string): UsageError {
  return new UsageError(`The option ${optionOf(name)} is given twice; give it once.`);
}

/** Splits WORDS into options and operands. Returns the operands, and the arguments that the options set. PARAMETERS are
 * those of the tool that VERB calls. SHORT maps an option that is written without a value, such as --fresh, to the
 * arguments that it stands for. With a value, as in --fresh=true, an option sets the parameter of the same name. Throws
 * a UsageError for an option that is unknown, lacks its value or is given twice. */
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

/** Returns the arguments in WORDS for TOOL, the tool that the verb `call` calls. WORDS are one JSON object, or several
 * words of the form NAME=VALUE. PARAMETERS are those of TOOL. */
export function namedArguments(words: readonly string[], parameters: OptionTypes, tool: string): Arguments {
  const [first = '', ...more] = words;
  const object = more.length === 0 ? jsonOr(first, undefined) : undefined;
  if (isObject(object)) return object;
  const wrong = words.find((word) => !/^[a-z][a-z0-9_-]*=/i.test(word));
  if (wrong !== undefined)
    throw new UsageError(
      `The command call takes NAME=VALUE or one JSON object after the tool, not ${wrong.slice(0, 80)}.`,
    );
  const options = words.map((word) => `--${word}`);
  return argumentsOf(options, parameters, `call ${tool}`).args;
}

function unknownOption(word: string, verb: string, options: object): UsageError {
  const known = Object.keys(options).map(optionOf).join(', ') || 'no option';
  return new UsageError(`The command ${verb} has no option ${word.replace(/=.*/s, '')}; it takes ${known}.`);
}

/** Converts TEXT to the type of a parameter. For an array, returns the list of the elements in TEXT. A TEXT that cannot
 * be converted is returned unchanged, so that the check of the arguments refuses it. */
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
