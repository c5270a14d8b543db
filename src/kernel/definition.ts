// Converts the definition of a tool to data, and reads a definition from untrusted data.

import {
  checkRequired,
  type MakeToolError,
  PARAMETER_TYPES,
  type Parameter,
  parameterList,
  toolErrorFor,
} from './parameter.ts';
import { printable } from './schema.ts';
import type { Tool } from './tool.ts';

/** The fields of a tool that the tool contract (docs/develop/contracts.md) names, without its handler. */
export type ToolDefinitionData = Pick<
  Tool,
  'name' | 'description' | 'parameters' | 'required' | 'safetyLevel' | 'categories'
>;

const DEFINITION_LIMIT = 10_000;
/** Maximum number of characters of a tool's name. Clients put the server's name before it. */
const NAME_LIMIT = 50;

/** Returns the definition of TOOL. */
export function toolDefinitionData(tool: Tool): ToolDefinitionData {
  const { name, description, parameters, required, safetyLevel, categories } = tool;
  return { name, description, parameters, required, safetyLevel, categories };
}

/** Returns DATA as a tool definition. Throws a CallError for invalid types and fields, which defineTool does not
 * check. */
export function readToolDefinition(data: unknown): ToolDefinitionData {
  const { name, description, parameters, required, safetyLevel, categories } = fieldsOf(data);
  const toolError = toolErrorFor(printable(textOf(name)));
  const size = JSON.stringify(data).length;
  if (size > DEFINITION_LIMIT) {
    throw toolError(
      `has a definition of ${size} characters as JSON; the limit is ${DEFINITION_LIMIT}. Shorten its texts.`,
    );
  }
  if (typeof name !== 'string' || typeof description !== 'string' || !isListOf(isString, categories)) {
    throw toolError('must have a name and a description that are strings, and a list of categories.');
  }
  if (name.length > NAME_LIMIT) {
    throw toolError(`has a name of ${name.length} characters; the limit is ${NAME_LIMIT}.`);
  }
  const parameterData = parameterList(parameters, toolError);
  checkRequired(required, toolError);
  return {
    name,
    description,
    parameters: parameterData.map((each) => readParameter(each, toolError)),
    required,
    safetyLevel: textOf(safetyLevel) as ToolDefinitionData['safetyLevel'],
    categories,
  };
}

type Fields = { readonly [name: string]: unknown };

function fieldsOf(data: unknown): Fields {
  return typeof data === 'object' && data !== null ? (data as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(JSON.stringify(value));
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => Number.isFinite(value);

function isListOf<Value>(isItem: (value: unknown) => value is Value, list: unknown): list is Value[] {
  return Array.isArray(list) && list.every(isItem);
}

/** Maps an optional field of a parameter to a function that checks its value, and a phrase for the valid values. */
const OPTIONS: { readonly [field: string]: readonly [(value: unknown) => boolean, string] } = {
  description: [isString, 'a string'],
  enum: [(value) => isListOf(isString, value), 'a list of strings'],
  default: [(value) => isString(value) || isNumber(value) || value === true, 'a string, a number or T'],
  items: [(value) => PARAMETER_TYPES.some((type) => type === fieldsOf(value)['type']), 'a type'],
  minimum: [isNumber, 'a number'],
  maximum: [isNumber, 'a number'],
};

/** Matches parameter names that model providers accept. If one name does not match, they refuse all tools. */
const PARAMETER_NAME = /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/;

/** Returns DATA as a parameter. checkTool later checks the type of the parameter, and that it has a name. */
function readParameter(data: unknown, toolError: MakeToolError): Parameter {
  const { name, type, ...fields } = fieldsOf(data);
  if (isString(name) && name !== '' && !PARAMETER_NAME.test(name)) {
    throw toolError(
      `has a parameter with the invalid name '${printable(name)}': a name must be a letter, then up to 63 of a to z, A to Z, 0 to 9, _, . and -.`,
    );
  }
  const options = Object.entries(OPTIONS).filter(([field]) => fields[field] !== undefined);
  for (const [field, [isValid, words]] of options) {
    if (!isValid(fields[field])) {
      throw toolError(
        `has a parameter '${printable(textOf(name))}' with a wrong ${field}, which must be ${words}.`,
      );
    }
  }
  const given = Object.fromEntries(options.map(([field]) => [field, fields[field]]));
  return { description: '', ...given, name, type: textOf(type) } as Parameter;
}
