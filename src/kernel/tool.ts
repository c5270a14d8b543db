// Decides what a tool is: the contract's seven parts, and how its data becomes text.

import { CallError } from '../errors.ts';

export const SAFETY_LEVELS = ['safe', 'cautious', 'dangerous'] as const;
export type SafetyLevel = (typeof SAFETY_LEVELS)[number];

export const PARAMETER_TYPES = ['string', 'boolean', 'number', 'integer', 'object', 'array'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** How much there is to know before calling a tool well. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** One parameter, as the contract's plist with what JSON Schema has besides. */
export interface Parameter {
  name: string;
  type: ParameterType;
  description: string;
  enum?: readonly string[];
  /** The handler answers for values outside `enum` itself (C8); they are not refused before. */
  openEnum?: boolean;
  default?: string | number | boolean;
  items?: { type: ParameterType };
  minimum?: number;
  maximum?: number;
}

export type Arguments = { readonly [name: string]: unknown };

/** How a call that runs can be watched and ended. */
export interface CallContext {
  signal?: AbortSignal;
  /** Told, about once a second, what the call is doing. */
  onProgress?: (message: string) => void;
  /** Code reads the data, and nobody the text: lists are whole when the arguments set no limit. */
  forData?: boolean;
  /** The fingerprint of the preview that was approved: when it is another now, the handler does nothing. */
  fingerprint?: string;
}

/** What a human is shown before a call that needs their approval, and what that approval holds for. */
export interface Preview {
  /** What the call would do, for a person to read: for a file, a unified diff. */
  text: string;
  /** Where it would do it: a file as people name it. Standing approvals name such places. */
  place?: string;
  /** Is another one whenever what was shown is no longer what would happen: a digest of the file, say. */
  fingerprint: string;
}

/** What a handler gives back: DATA for code, and how it reads for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** The call did not do what was asked, and TEXT says why (C8). */
  failed?: boolean;
  /** TEXT says what is not there: an answer for a model (C8), a failure for code that reads the data. */
  absent?: boolean;
  /** TEXT is the JSON of DATA, which is an object; a client gets both, and some show their model only that. */
  structured?: boolean;
}

export interface Tool {
  readonly name: string;
  /** A few words for people, shown by clients. */
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly required: readonly string[];
  readonly safetyLevel: SafetyLevel;
  /** The level that its author gave it, where it is treated as a higher one. */
  readonly declaredLevel?: SafetyLevel;
  /** What standing approvals call it, where that is not its name: one of the name does not hold for it. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** What it does in one short sentence, for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** Other words that somebody who needs the tool may use. */
  readonly keywords: readonly string[];
  /** A client that loads tools only when they are needed should have this one from the start. */
  readonly alwaysLoad: boolean;
  /** Milliseconds that the handler may take; infinity when it has limits of its own. */
  readonly limitMs: number;
  /** Code in the image cannot call it, because it would pull the ground from under that code. */
  readonly refusesCode?: boolean;
  /** Does the work. What it returns is a Result or a plain value; what it throws is a failure (S2.8, S2.9). */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns what a human is asked to approve. Throws a CallError when the call could not be done anyway, so that
   *  nobody is asked. Without it they are shown the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

type Mandatory = 'name' | 'description' | 'parameters' | 'handler';
export type ToolDefinition = Pick<Tool, Mandatory> & Partial<Omit<Tool, Mandatory>>;

/** Milliseconds that a handler may take when its tool does not say. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool that DEFINITION describes, with the defaults of the contract (S2.1); the first sentence
 *  of its description is its short one. Throws a CallError that names what is wrong (S2.2 to S2.6). */
export function defineTool(definition: ToolDefinition): Tool {
  checkObject(definition);
  const { required = [], safetyLevel = 'safe', categories = [] } = definition;
  const { complexity = 'simple', keywords = [], alwaysLoad = false, limitMs = LIMIT_MS } = definition;
  const { shortDescription = firstSentence(definition.description), title = titleOf(definition.name) } =
    definition;
  const forLists = { title, shortDescription, complexity, keywords, alwaysLoad };
  return Object.freeze(checkTool({ ...definition, required, safetyLevel, categories, limitMs, ...forLists }));
}

/** Returns LEVEL, or cautious when that is higher. */
export function atLeastCautious(level: SafetyLevel): SafetyLevel {
  return level === 'safe' ? 'cautious' : level;
}

/** Returns the keywords in TEXT, which commas separate. */
export function keywordList(text: string): string[] {
  return text.replace(/\s+/g, ' ').trim().split(', ');
}

/** Returns the title of the tool NAME, for which nobody gave one. */
export function titleOf(name: unknown): string {
  return String(name)
    .replace(/_/g, ' ')
    .replace(/^./, (letter) => letter.toUpperCase());
}

function firstSentence(text: unknown): string {
  return /^.*?\.(?=\s|$)|^.*/s.exec(String(text))?.[0] ?? '';
}

/** Returns TOOL when it is valid. Throws a CallError that names what is wrong (S2.2 to S2.6, S4.2). */
export function checkTool(tool: Tool): Tool {
  checkObject(tool);
  const culprit = (what: string) => new CallError(`Tool ${JSON.stringify(tool.name)} ${what}`);
  if (typeof tool.name !== 'string' || !NAME.test(tool.name)) {
    throw culprit('must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.');
  }
  if (!tool.description) throw culprit('must have a description.');
  if (!Array.isArray(tool.parameters)) throw culprit('must have a list of parameters.');
  if (typeof tool.handler !== 'function') throw culprit('must have a handler.');
  if (!SAFETY_LEVELS.includes(tool.safetyLevel)) {
    throw culprit(`has the safety level ${tool.safetyLevel}; valid are ${SAFETY_LEVELS.join(', ')}.`);
  }
  if (!COMPLEXITIES.includes(tool.complexity)) {
    throw culprit(`has the complexity ${tool.complexity}; valid are ${COMPLEXITIES.join(', ')}.`);
  }
  if (!(tool.limitMs > 0)) throw culprit(`has the limit ${tool.limitMs}; it must be milliseconds above 0.`);
  checkParameters(tool, culprit);
  return tool;
}

function checkObject(tool: unknown): void {
  if (typeof tool !== 'object' || tool === null) {
    throw new CallError('A tool must be an object with a name, a description, parameters and a handler.');
  }
}

function checkParameters(tool: Tool, culprit: (what: string) => CallError): void {
  const names = new Set<string>();
  for (const parameter of tool.parameters) {
    const { name, type } = parameter ?? {};
    if (typeof name !== 'string' || name === '') throw culprit('has a parameter without a name.');
    if (names.has(name)) throw culprit(`has two parameters named '${name}'.`);
    names.add(name);
    if (!PARAMETER_TYPES.includes(type)) {
      throw culprit(`has a parameter '${name}' of type ${type}; valid are ${PARAMETER_TYPES.join(', ')}.`);
    }
  }
  if (!Array.isArray(tool.required)) throw culprit('must have a list of the names of required parameters.');
  const stray = tool.required.find((name) => !names.has(name));
  if (stray !== undefined) throw culprit(`requires '${stray}', which is not one of its parameters.`);
}
