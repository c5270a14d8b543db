// Converts a tool's parameters to JSON Schema, and validates the arguments of calls.

import { ArgumentError } from '../errors.ts';
import type { Arguments, ArgumentsOf, Parameter } from './parameter.ts';
import { cutText } from './reply.ts';
import type { Tool } from './tool.ts';

/** The fields of a tool that define which arguments it accepts. */
export type Signature = Pick<Tool, 'name' | 'parameters' | 'required' | 'instead'>;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface InputSchema {
  [key: string]: unknown;
  type: 'object';
  required?: string[];
  properties: { [name: string]: { [key: string]: Json } };
}

/** Returns the JSON Schema of TOOL's arguments. */
export function inputSchema(tool: Signature): InputSchema {
  const properties = Object.fromEntries(tool.parameters.map((each) => [each.name, propertySchema(each)]));
  return tool.required.length > 0
    ? { type: 'object', required: [...tool.required], properties }
    : { type: 'object', properties };
}

function propertySchema(parameter: Parameter): { [key: string]: Json } {
  const { type, otherTypes, description, enum: values, default: defaultValue, items } = parameter;
  const schema: { [key: string]: Json } = { type: otherTypes ? [type, ...otherTypes] : type };
  if (description) schema['description'] = description;
  if (values) schema['enum'] = [...values];
  if (defaultValue !== undefined) schema['default'] = defaultValue;
  if (type === 'array') schema['items'] = items ? itemSchema(items) : {};
  return schema;
}

function itemSchema({ type, properties, required = [] }: NonNullable<Parameter['items']>): Json {
  if (properties === undefined) return { type };
  const members = Object.fromEntries(properties.map((each) => [each.name, propertySchema(each)]));
  return { type, properties: members, ...(required.length > 0 && { required: [...required] }) };
}

/** The schema of a tool in the form that model providers expect. */
export interface FunctionSchema {
  type: 'function';
  function: {
    name: string;
    description: string;
    parameters: InputSchema & { required: string[] };
  };
}

/** Returns TOOL in the form that model providers expect. */
export function toolToSchema(tool: Pick<Tool, 'description'> & Signature): FunctionSchema {
  const { name, description, required } = tool;
  return {
    type: 'function',
    function: { name, description, parameters: { ...inputSchema(tool), required: [...required] } },
  };
}

/** Returns TOOLS in the form that model providers expect, in the same order. */
export function toolsToSchema(tools: readonly Tool[]): FunctionSchema[] {
  return tools.map(toolToSchema);
}

/** Returns the arguments in ARGS without those that count as absent: null, and an empty string for a parameter with an
 * enum. For a parameter with `takesTrue`, false counts as absent, and true becomes the string 'true'. Throws an
 * ArgumentError when ARGS are invalid for TOOL. The contract (docs/develop/contracts.md) prescribes its message. */
export function validateArguments(tool: Signature, args: unknown): Arguments {
  if (args !== undefined && args !== null && (typeof args !== 'object' || Array.isArray(args))) {
    throw new ArgumentError(`The arguments of ${tool.name} must be an object, not ${kindOf(args)}.`);
  }
  const parameters = new Map(tool.parameters.map((each) => [each.name, each]));
  const takesTrue = (name: string) => parameters.get(name)?.takesTrue === true;
  const isChoice = (name: string) => takesTrue(name) || parameters.get(name)?.enum !== undefined;
  const isAbsent = (name: string, value: unknown) =>
    value === null ||
    value === undefined ||
    (value === '' && isChoice(name)) ||
    (value === false && takesTrue(name));
  const given = Object.fromEntries(
    Object.entries(args ?? {})
      .filter(([name, value]) => !isAbsent(name, value))
      .map(([name, value]) => [name, value === true && takesTrue(name) ? 'true' : value]),
  );
  for (const name of tool.required) {
    const alternatives = [name, ...(tool.instead?.[name] ?? [])];
    if (!alternatives.some((alternative) => Object.hasOwn(given, alternative)))
      throw new ArgumentError(`Required parameter '${name}' missing`);
  }
  for (const [name, value] of Object.entries(given)) {
    const parameter = parameters.get(name);
    if (parameter === undefined) {
      throw new ArgumentError(
        `Unknown parameter '${printable(name)}'; ${tool.name} takes ${[...parameters.keys()].join(', ') || 'none'}.`,
      );
    }
    checkValue(parameter, value);
  }
  return given;
}

/** Returns ARGS, which are validated, with the default values of missing parameters added. */
export function withDefaults({ parameters }: Pick<Signature, 'parameters'>, args: Arguments): Arguments {
  const defaulted = parameters.filter((each) => each.default !== undefined && !each.defaultOnlyDocumented);
  return { ...Object.fromEntries(defaulted.map((each) => [each.name, each.default])), ...args };
}

/** Returns ARGS as a handler gets them: validated, and with default values. Throws an ArgumentError when they are
 * invalid. */
export function readArguments<
  const List extends readonly Parameter[],
  const Needed extends readonly string[],
>(signature: { name: string; parameters: List; required: Needed }, args: unknown): ArgumentsOf<List, Needed> {
  return withDefaults(signature, validateArguments(signature, args)) as ArgumentsOf<List, Needed>;
}

/** Throws an ArgumentError unless VALUE is valid for PARAMETER, which can be an item of an array. Does not check the
 * members of items that are objects; the handler does. Ignores `otherTypes`, which are only for clients. */
function checkValue(parameter: Parameter, value: unknown): void {
  const { name, type, minimum, maximum, items } = parameter;
  const article = /^[aeiou]/.test(type) ? 'an' : 'a';
  if (!isOfType(value, type))
    throw new ArgumentError(`Parameter '${name}' must be ${article} ${type}, not ${kindOf(value)}.`);
  if (typeof value === 'number' && minimum !== undefined && value < minimum) {
    throw new ArgumentError(`Parameter '${name}' must be at least ${minimum}, not ${value}.`);
  }
  if (typeof value === 'number' && maximum !== undefined && value > maximum) {
    throw new ArgumentError(`Parameter '${name}' must be at most ${maximum}, not ${value}.`);
  }
  if (parameter.enum && !parameter.openEnum && !parameter.enum.includes(String(value))) {
    throw new ArgumentError(`Parameter '${name}' must be one of ${parameter.enum.join(', ')}.`);
  }
  if (items && Array.isArray(value))
    for (const [index, each] of value.entries())
      checkValue({ name: `${name}[${index}]`, type: items.type }, each);
}

function isOfType(value: unknown, type: Parameter['type']): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/** Returns a noun phrase for the type of VALUE, such as `an array`. For a number, the phrase contains the number. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

/** Returns TEXT, from a client, as one short line without control characters, for use in a sentence. */
export function printable(text: string): string {
  return cutText(text.replace(/[\p{C}\p{Z}]/gu, ' '), 80);
}
