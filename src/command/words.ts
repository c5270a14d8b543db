// Converts the words of a command line to the arguments of a tool, by the tool's parameters.

import { messageOf, UsageError } from '../errors.ts';
import { type Signature, validateArguments } from '../kernel/schema.ts';
import { type Arguments, usageOf } from './verbs.ts';

/** The names and parameters of all built-in tools as JSON. The build defines this. */
declare const BUILT_IN_SIGNATURES: string;

/** The JSON schema of a tool's parameter. */
interface OptionType {
  type?: string;
  items?: { type?: string };
}

export type OptionTypes = { readonly [name: string]: OptionType };

/** Returns the signature of the built-in TOOL; undefined when it is none. */
export function signatureOf(tool: string): Signature | undefined {
  return (JSON.parse(BUILT_IN_SIGNATURES) as Signature[]).find(({ name }) => name === tool);
}

/** Returns the parameters of SIGNATURE by their names. */
export function optionTypesOf({ parameters }: Signature): OptionTypes {
  return Object.fromEntries(parameters.map((each) => [each.name, each]));
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

/** Returns the option of the command line for the parameter NAME. */
function optionOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}

/** Returns the error that the option for the parameter NAME is given twice. */
export function givenTwice(name: string): UsageError {
  return new UsageError(`The option ${optionOf(name)} is given twice; give it once.`);
}

/** Splits WORDS into options and operands, and returns the arguments that the options give. PARAMETERS are
 *  those that VERB takes. SHORT has options that take no value, with the arguments that each
 *  stands for; with a value, such an option is a parameter. Throws a UsageError for an unknown option, one
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
    const value = parsedValue(`--${option}`, text, parameter);
    if (parameter.type !== 'array' && Object.hasOwn(args, name)) throw givenTwice(name);
    args[name] = Array.isArray(value) ? [...((args[name] as unknown[] | undefined) ?? []), ...value] : value;
  }
  return { operands, args };
}

/** Returns the arguments that WORDS give to the tool of a call, which has PARAMETERS. WORDS are one JSON object, or words
 *  of the form NAME=VALUE. */
export function namedArguments(words: readonly string[], parameters: OptionTypes, tool: string): Arguments {
  const [first = '', ...more] = words;
  if (first.trimStart().startsWith('{') && more.length === 0)
    return jsonOf('The command call', first) as Arguments;
  const wrong = words.find((word) => !/^[a-z][a-z0-9_-]*=/i.test(word));
  if (wrong !== undefined)
    throw new UsageError(
      `The command call takes NAME=VALUE or one JSON object behind the tool, not ${wrong}.`,
    );
  return argumentsOf(
    words.map((word) => `--${word}`),
    parameters,
    `call ${tool}`,
  ).args;
}

function unknownOption(word: string, verb: string, options: object): UsageError {
  const known = Object.keys(options).map(optionOf).join(', ') || 'no option';
  return new UsageError(`The command ${verb} has no option ${word.replace(/=.*/s, '')}; it takes ${known}.`);
}

/** Converts TEXT to a value of the type of a parameter; for an array, to the list of its further elements. */
function parsedValue(option: string, text: string, { type, items }: OptionType): unknown {
  switch (type) {
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw new UsageError(`The option ${option} is true or false, not ${text}.`);
    case 'integer':
    case 'number': {
      const number = text.trim() === '' ? Number.NaN : Number(text);
      if (Number.isNaN(number)) throw new UsageError(`The option ${option} takes a number, not ${text}.`);
      return number;
    }
    case 'array':
      return (items?.type ?? 'string') === 'string' ? [text] : [jsonOf(`The option ${option}`, text)].flat();
    case 'string':
      return text;
    default:
      return jsonOf(`The option ${option}`, text);
  }
}

/** Returns the value of the JSON TEXT. WHAT takes it, as an error names that. */
function jsonOf(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} takes JSON, and this is none (${messageOf(error)}): ${text.slice(0, 80)}`);
  }
}
