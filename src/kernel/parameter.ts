// Defines the parameters of a tool, and derives the type of its handler's arguments from them.

import { CallError } from '../errors.ts';

export const PARAMETER_TYPES = ['string', 'boolean', 'number', 'integer', 'object', 'array'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** A parameter of a tool: a plist in the contract, with further fields from JSON Schema. */
export interface Parameter {
  name: string;
  type: ParameterType;
  /** Further types in the schema for clients: those in other images whose tools of this name differ. */
  otherTypes?: readonly ParameterType[];
  /** Absent when the name is clear enough. */
  description?: string;
  enum?: readonly string[];
  /** True when a boolean true means the string 'true', and false means an absent argument. */
  takesTrue?: true;
  /** Validation accepts values outside `enum`, because the handler itself answers them (C8). */
  openEnum?: boolean;
  /** The value for the handler when the argument is absent. */
  default?: string | number | boolean;
  /** The default is only documentation, because the handler itself applies it. */
  defaultOnlyDocumented?: boolean;
  /** For an array: the type of its items and, for objects, their members. */
  items?: { type: ParameterType; properties?: readonly Parameter[]; required?: readonly string[] };
  /** Bounds of a number for validation and errors. The schema for clients does not have them. */
  minimum?: number;
  maximum?: number;
  /** True for the package in which Lisp names are read. In calls from code, it defaults to the package of the
   *  code. */
  readsNames?: true;
  /** Set when the argument can be an image's number of an error or call, or an object after an @. */
  isOfImage?: 'error' | 'call' | 'object';
}

export type Arguments = { readonly [name: string]: unknown };

/** By type of a parameter: the TypeScript type of its argument. */
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

/** The name of the parameter if its argument is always present in the handler, else never. */
type SureName<Param extends Parameter, RequiredNames> = Param['name'] extends RequiredNames
  ? Param['name']
  : Param extends { defaultOnlyDocumented: true }
    ? never
    : Param extends { default: string | number | boolean }
      ? Param['name']
      : never;

/** The type of a handler's arguments for the parameters `List` and the required `RequiredNames`. Without
 *  literal types in `List` it is Arguments. */
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

/** Creates an error about one tool. `what` is the mistake. */
export type MakeToolError = (what: string) => CallError;

/** Returns the MakeToolError for the tool NAME. */
export function toolErrorFor(name: unknown): MakeToolError {
  return (what) => new CallError(`Tool ${JSON.stringify(name)} ${what}`);
}

/** Returns PARAMETERS if they are a list, else throws an error made by TOOL_ERROR (S2.6). */
export function parameterList<Item>(parameters: readonly Item[] | unknown, toolError: MakeToolError): Item[] {
  if (!Array.isArray(parameters)) throw toolError('must have a list of parameters.');
  return parameters;
}

/** Throws an error made by TOOL_ERROR unless REQUIRED is a list of strings (S2.3). */
export function checkRequired(required: unknown, toolError: MakeToolError): asserts required is string[] {
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
    throw toolError('must have a list of the names of required parameters.');
  }
}

/** Throws an error made by TOOL_ERROR unless PARAMETERS and REQUIRED are valid (S2.3, S2.5, S2.6). */
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
