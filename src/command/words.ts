// Converts the words of a command line to the arguments of a tool, by the tool's parameters.

import { UsageError } from '../errors.ts';

/** The JSON schema of a tool's parameter. */
interface OptionType {
  type?: string;
  items?: { type?: string };
}

export type OptionTypes = { readonly [name: string]: OptionType };

/** Returns the option of the command line for the parameter NAME. */
export function optionOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}

/** Splits WORDS into options and operands, and returns the arguments that the options give. PARAMETERS are
 *  those of the tool that VERB calls. SHORT maps options without a value to the arguments that they stand
 *  for. With a value, such an option names a parameter. Throws a UsageError for an unknown option, one
 *  without a value, or one that is given twice. */
export function argumentsOf(
  words: readonly string[],
  parameters: OptionTypes,
  verb: string,
  short: { readonly [name: string]: object } = {},
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
    if (parameter === undefined) throw unknownOption(word, verb, parameters, short);
    const text = attached ?? (parameter.type === 'boolean' ? 'true' : rest.shift());
    if (text === undefined) throw new UsageError(`The option --${option} needs a value.`);
    const value = parsedValue(`--${option}`, text, parameter);
    if (parameter.type !== 'array' && Object.hasOwn(args, name))
      throw new UsageError(`The option --${option} is given twice; give it once.`);
    args[name] = Array.isArray(value) ? [...((args[name] as unknown[] | undefined) ?? []), ...value] : value;
  }
  return { operands, args };
}

/** Converts PAIRS, words of the form NAME=VALUE, to options. Throws a UsageError when a word has another
 *  form. */
export function optionsIn(pairs: readonly string[]): string[] {
  const wrong = pairs.find((pair) => !/^[a-z][a-z0-9_-]*=/i.test(pair));
  if (wrong === undefined) return pairs.map((pair) => `--${pair}`);
  throw new UsageError(`The command call takes NAME=VALUE or one JSON object behind the tool, not ${wrong}.`);
}

function unknownOption(word: string, verb: string, parameters: OptionTypes, short: object): UsageError {
  const names = [...Object.keys(short), ...Object.keys(parameters)].map(optionOf);
  const known = names.length === 0 ? 'it takes none' : `it takes ${[...new Set(names)].join(', ')}`;
  return new UsageError(`The command ${verb} has no option ${word.replace(/=.*/s, '')}; ${known}.`);
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
      return (items?.type ?? 'string') === 'string' ? [text] : [jsonOf(option, text)].flat();
    case 'string':
      return text;
    default:
      return jsonOf(option, text);
  }
}

function jsonOf(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The option ${option} takes JSON, and this is none: ${text.slice(0, 80)}`);
  }
}
