// Decides what the parameters of a tool are, and which arguments its handler gets by them.

import { CallError } from '../errors.ts';

export const PARAMETER_TYPES = ['string', 'boolean', 'number', 'integer', 'object', 'array'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** One parameter, as the contract's plist with what JSON Schema has besides. */
export interface Parameter {
  name: string;
  type: ParameterType;
  description: string;
  enum?: readonly string[];
  /** The handler answers for values outside `enum` itself (C8); they are not refused before. */
  openEnum?: boolean;
  /** What the handler gets when the argument is absent. */
  default?: string | number | boolean;
  /** The default is only told: the handler itself knows what an absent argument means. */
  defaultOnlyTold?: boolean;
  /** Of an array: what its items are, and the members of those that are objects. */
  items?: { type: ParameterType; properties?: readonly Parameter[]; required?: readonly string[] };
  minimum?: number;
  maximum?: number;
  /** It is the package in which names are read, so code that gives none means its own. */
  readsNames?: true;
}

/** Arguments by the names of their parameters. */
export type Arguments = { readonly [name: string]: unknown };

/** The values of each type. */
interface Values {
  string: string;
  boolean: boolean;
  number: number;
  integer: number;
  object: { readonly [name: string]: unknown };
  array: readonly unknown[];
}

/** The values that a parameter takes. */
type ValueOf<Each extends Parameter> = Each extends { openEnum: true }
  ? Values[Each['type']]
  : Each extends { enum: readonly (infer Value)[] }
    ? Value
    : Each extends { type: 'array'; items: { type: infer Item extends ParameterType } }
      ? readonly Values[Item][]
      : Values[Each['type']];

/** The name of a parameter whose argument a handler always gets, or never. */
type SureName<Each extends Parameter, Needed> = Each['name'] extends Needed
  ? Each['name']
  : Each extends { defaultOnlyTold: true }
    ? never
    : Each extends { default: string | number | boolean }
      ? Each['name']
      : never;

/** The arguments that the handler of a tool with the parameters LIST gets, when it requires those
 *  named in NEEDED. Of lists that are not known to the letter nothing follows. */
export type ArgumentsOf<
  List extends readonly Parameter[],
  Needed extends readonly string[],
> = string extends List[number]['name']
  ? Arguments
  : {
      readonly [Each in List[number] as SureName<Each, Needed[number]>]: ValueOf<Each>;
    } & {
      readonly [Each in List[number] as Exclude<
        Each['name'],
        SureName<Each, Needed[number]>
      >]?: ValueOf<Each>;
    };

/** Makes the error that says of a tool what is wrong with it. */
export type Culprit = (what: string) => CallError;

/** Returns what makes the errors about the tool NAME. */
export function culpritOf(name: unknown): Culprit {
  return (what) => new CallError(`Tool ${JSON.stringify(name)} ${what}`);
}

/** Returns PARAMETERS when it is a list. Throws what CULPRIT makes when it is none (S2.6). */
export function parameterList<Item>(parameters: readonly Item[] | unknown, culprit: Culprit): Item[] {
  if (!Array.isArray(parameters)) throw culprit('must have a list of parameters.');
  return parameters;
}

/** Throws what CULPRIT makes unless REQUIRED is a list of strings (S2.3). */
export function checkRequired(required: unknown, culprit: Culprit): asserts required is string[] {
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
    throw culprit('must have a list of the names of required parameters.');
  }
}

/** Throws what CULPRIT makes unless PARAMETERS and the names REQUIRED are a tool's (S2.3, S2.5, S2.6). */
export function checkParameters(parameters: unknown, required: unknown, culprit: Culprit): void {
  const names = new Set<string>();
  for (const parameter of parameterList<Parameter | null>(parameters, culprit)) {
    const { name, type } = parameter ?? {};
    if (typeof name !== 'string' || name === '') throw culprit('has a parameter without a name.');
    if (names.has(name)) throw culprit(`has two parameters named '${name}'.`);
    names.add(name);
    if (!PARAMETER_TYPES.some((each) => each === type)) {
      throw culprit(`has a parameter '${name}' of type ${type}; valid are ${PARAMETER_TYPES.join(', ')}.`);
    }
  }
  checkRequired(required, culprit);
  const stray = required.find((name) => !names.has(name));
  if (stray !== undefined) throw culprit(`requires '${stray}', which is not one of its parameters.`);
}
