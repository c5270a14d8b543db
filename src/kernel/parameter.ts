// Defines the parameters of a tool, and derives the type of its handler's arguments from them.

import { CallError } from '../errors.ts';

export const PARAMETER_TYPES = ['string', 'boolean', 'number', 'integer', 'object', 'array'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** A parameter of a tool. It has the fields of the tool contract (docs/develop/contracts.md), further ones of JSON
 * Schema, and some that only this server uses. */
export interface Parameter {
  name: string;
  type: ParameterType;
  /** Further types that the schema for clients allows, when the server has several images: those of this parameter in
   * the tools with the same name in other images. */
  otherTypes?: readonly ParameterType[];
  /** Absent when the name of the parameter explains it. */
  description?: string;
  enum?: readonly string[];
  /** For a parameter of type string: true when a call may also give a boolean. True counts as the string 'true', and
   * false as an absent argument. */
  takesTrue?: true;
  /** True when validation accepts values outside `enum`, because the handler explains the mistake itself. */
  openEnum?: boolean;
  /** The value for the handler when the argument is absent. */
  default?: string | number | boolean;
  /** True when the handler applies the default itself, so that `default` is only documentation. */
  defaultOnlyDocumented?: boolean;
  /** For an array, the type of its items. For items that are objects, also their members. */
  items?: { type: ParameterType; properties?: readonly Parameter[]; required?: readonly string[] };
  /** Limits of a number for validation and error messages. The schema for clients does not contain them. */
  minimum?: number;
  maximum?: number;
  /** True for the parameter that names the package in which Lisp names are read. In calls by code, the default is the
   * current package of the code. */
  readsNames?: true;
  /** Set when the argument can identify something in one image: an error or a call by its number, or an object by `@`
   * and its number. */
  isOfImage?: 'error' | 'call' | 'object';
}

export type Arguments = { readonly [name: string]: unknown };

/** The TypeScript type of an argument, by the type of its parameter. */
interface Values {
  string: string;
  boolean: boolean;
  number: number;
  integer: number;
  object: { readonly [name: string]: unknown };
  array: readonly unknown[];
}

type ValueOf<Param extends Parameter> = Param extends { openEnum: true }
  ? Values[Param['type']]
  : Param extends { enum: readonly (infer Value)[] }
    ? Value
    : Param extends { type: 'array'; items: { type: infer Item extends ParameterType } }
      ? readonly Values[Item][]
      : Values[Param['type']];

/** The name of the parameter if the handler always gets an argument for it, else the type never. */
type SureName<Param extends Parameter, RequiredNames> = Param['name'] extends RequiredNames
  ? Param['name']
  : Param extends { defaultOnlyDocumented: true }
    ? never
    : Param extends { default: string | number | boolean }
      ? Param['name']
      : never;

/** The type of a handler's arguments, for the parameters `List` and the names `RequiredNames` of required ones. If the
 * types in `List` are not literal, it is Arguments. */
export type ArgumentsOf<
  List extends readonly Parameter[],
  RequiredNames extends readonly string[],
> = string extends List[number]['name']
  ? Arguments
  : {
      readonly [Each in List[number] as SureName<Each, RequiredNames[number]>]: ValueOf<Each>;
    } & {
      readonly [Each in List[number] as Exclude<
        Each['name'],
        SureName<Each, RequiredNames[number]>
      >]?: ValueOf<Each>;
    };

/** Returns an error about one tool. `what` says what is wrong, as the end of a sentence that begins with the tool. */
export type MakeToolError = (what: string) => CallError;

/** Returns a function that makes errors about the tool NAME. */
export function toolErrorFor(name: unknown): MakeToolError {
  return (what) => new CallError(`Tool ${JSON.stringify(name)} ${what}`);
}

/** Returns PARAMETERS if it is an array. Otherwise throws an error made by TOOL_ERROR. */
export function parameterList<Item>(parameters: readonly Item[] | unknown, toolError: MakeToolError): Item[] {
  if (!Array.isArray(parameters)) throw toolError('must have a list of parameters.');
  return parameters;
}

/** Throws an error made by TOOL_ERROR unless REQUIRED is an array of strings. */
export function checkRequired(required: unknown, toolError: MakeToolError): asserts required is string[] {
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
    throw toolError('must have a list of the names of required parameters.');
  }
}

/** Throws an error made by TOOL_ERROR unless PARAMETERS and REQUIRED are valid. */
export function checkParameters(parameters: unknown, required: unknown, toolError: MakeToolError): void {
  const names = new Set<string>();
  for (const parameter of parameterList<Parameter | null>(parameters, toolError)) {
    const { name, type } = parameter ?? {};
    if (typeof name !== 'string' || name === '') throw toolError('has a parameter without a name.');
    if (names.has(name)) throw toolError(`has two parameters named '${name}'.`);
    names.add(name);
    if (!PARAMETER_TYPES.some((each) => each === type)) {
      throw toolError(`has a parameter '${name}' of type ${type}; valid are ${PARAMETER_TYPES.join(', ')}.`);
    }
  }
  checkRequired(required, toolError);
  const stray = required.find((name) => !names.has(name));
  if (stray !== undefined) throw toolError(`requires '${stray}', which is not one of its parameters.`);
}
