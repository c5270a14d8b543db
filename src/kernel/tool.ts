// Defines a tool: the seven fields in the contract, and the fields that this server adds.

import { CallError } from '../errors.ts';
import type { QuestionLine } from '../question-line.ts';
import type { NoticeReader } from './notice-board.ts';
import {
  type Arguments,
  type ArgumentsOf,
  checkParameters,
  type Parameter,
  parameterList,
  toolErrorFor,
} from './parameter.ts';
import type { Told } from './told.ts';

export const SAFETY_LEVELS = ['safe', 'cautious', 'dangerous'] as const;
export type SafetyLevel = (typeof SAFETY_LEVELS)[number];

/** The possible effects of a call. Clients decide by them whether to ask. Our own approvals go by the
 *  level. */
export interface Effects {
  /** The call can change or remove something, instead of only adding. */
  destructive: boolean;
  /** Repeating the same call has no further effect. */
  idempotent: boolean;
  /** The call can reach beyond the image and the workspace. */
  openWorld: boolean;
}

/** How much a caller must know to call a tool well. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** How a running call is observed and cancelled, and for whom it runs. */
export interface CallContext {
  signal?: AbortSignal;
  /** Called about once a second with a text on what the call is doing. */
  onProgress?: (message: string) => void;
  /** Called about once a second with the next part of the call's output; resolves when it can take another. The
   *  answer then leaves the output out. */
  onOutput?: (text: string) => Promise<void>;
  /** False when no human can be asked for an approval. */
  canAsk?: boolean;
  /** Set when a command made the call. A command gets notices of its own, and no approval for the session
   *  covers its calls. */
  command?: NoticeReader;
  /** The record of earlier answers to the reader of this answer. Absent when no model reads the answer. */
  told?: Told;
  /** The caller is code that reads only the data: lists are complete unless the arguments set a limit. */
  forData?: boolean;
  /** The fingerprint of the approved preview. The handler does nothing if the current preview has another. */
  fingerprint?: string;
  /** True when a human has changed the arguments. */
  changedByHuman?: boolean;
}

/** Maximum number of keywords of a tool that give points in a search. */
export const MOST_KEYWORDS = 8;

/** The text for a human before a call that needs an approval, and the calls that the approval covers. */
export interface Preview {
  /** The effect of the call in a few words, such as the lines changed. Names come last. */
  summary?: QuestionLine | string;
  /** The effect of the call, for a person: for a file, a diff. A string is shown as text from outside. */
  text: readonly QuestionLine[] | string;
  /** The most important lines, shown first where there is little room. By default the lines of TEXT. */
  lines?: readonly QuestionLine[];
  /** The file that the call concerns, as named in the workspace and matched by standing approvals. */
  place?: string;
  otherPlaces?: readonly string[];
  /** True when no approval is needed, because everything that the call could lose is lost already. */
  free?: boolean;
  /** Changes whenever the call would no longer do what was shown, such as a digest of the file. */
  fingerprint: string;
}

/** The result that a handler returns: DATA for code, and TEXT for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** The call did not do what was requested. TEXT says why (C8). */
  failed?: boolean;
  /** Text for a model that the call returned although it failed. Code gets it with TEXT (C17). */
  result?: string;
  /** TEXT says that something does not exist: for a model an answer (C8), for code a failure. */
  absent?: boolean;
  /** The image does not have what was requested, perhaps because nothing is loaded yet. */
  unfound?: boolean;
  /** A note for the model about the call itself, besides TEXT. */
  note?: string;
  /** TEXT is the JSON of DATA, an object. Clients get both; some show their model only DATA. */
  structured?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly required: readonly string[];
  /** By required parameter: those that may be given instead. The handler then gets no value for it. */
  readonly instead?: { readonly [name: string]: readonly string[] };
  readonly safetyLevel: SafetyLevel;
  /** The level that the author of the tool declared, if the server assumes a higher level. */
  readonly declaredLevel?: SafetyLevel;
  /** The tool's name in standing approvals, if not NAME. Approvals of NAME then do not cover it. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** The effects that differ from those that the level implies. */
  readonly effects?: Partial<Effects>;
  /** A description of the tool in one short sentence, for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** Further words by which people may search for the tool, the best first. */
  readonly keywords: readonly string[];
  /** True for a tool that clients should load at their start even if they load other tools on demand. */
  readonly alwaysLoad: boolean;
  /** Milliseconds that the handler may take. Infinity when the handler has limits of its own. */
  readonly limitMs: number;
  /** The tool whose standing approvals cover this tool instead of its own, because both do the same. */
  readonly allowedAs?: string;
  /** True when a call with ARGS changes nothing, so that it is treated as safe. */
  readonly isReadOnly?: (args: Arguments) => boolean;
  /** Returns how a call with ARGS exceeds other calls of the tool. Ignored unless its level is higher. */
  readonly raisedBy?: (args: Arguments) => Raised | undefined;
  /** The meaning of a call that names no image, if the server has several. `any`: the call does the same in
   *  each image, so the tool takes no image. `all`: the call is made in each image. Absent: the call needs an
   *  image. */
  readonly images?: 'any' | 'all';
  /** True when code in the image cannot call the tool, because the tool would end the image and this code. */
  readonly refusesCode?: boolean;
  /** Does the work. Returns a Result or a plain value. An exception is a failure (S2.8, S2.9). */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns the preview that a human is asked to approve. Throws a CallError when the call would fail
   *  anyway, so that the human is not asked. Tools without this function show the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

/** For a call that does more than other calls of its tool: its level, and how it is approved. */
type Raised = Required<Pick<Tool, 'safetyLevel' | 'allowedAs' | 'preview'>>;

/** Returns TOOL for a call with ARGS: changed by its `raisedBy` if the result has a higher level. */
export function withRaisedLevel(tool: Tool, args: Arguments): Tool {
  const raise = tool.raisedBy?.(args);
  const rank = ({ safetyLevel }: Pick<Tool, 'safetyLevel'>) => SAFETY_LEVELS.indexOf(safetyLevel);
  return raise === undefined || rank(raise) <= rank(tool) ? tool : { ...tool, ...raise };
}

type Mandatory = 'name' | 'description' | 'parameters';
type Typed = 'handler' | 'preview' | 'isReadOnly' | 'raisedBy';

/** The definition of a tool. LIST and REQUIRED_NAMES give the types of its functions' arguments. */
export interface ToolDefinition<
  List extends readonly Parameter[] = readonly Parameter[],
  RequiredNames extends readonly string[] = readonly string[],
> extends Pick<Tool, Exclude<Mandatory, 'parameters'>>,
    Partial<Omit<Tool, Mandatory | 'required' | Typed>> {
  readonly parameters: List;
  readonly required?: RequiredNames;
  readonly handler: (args: ArgumentsOf<List, RequiredNames>, context: CallContext) => unknown;
  readonly preview?: (args: ArgumentsOf<List, RequiredNames>, context: CallContext) => Promise<Preview>;
  readonly isReadOnly?: (args: ArgumentsOf<List, RequiredNames>) => boolean;
  readonly raisedBy?: (args: ArgumentsOf<List, RequiredNames>) => Raised | undefined;
}

/** The fields of a definition that clients see. */
export type ToolDescription = Omit<ToolDefinition, Typed>;

/** The arguments of the handler of a tool with this DESCRIPTION. */
export type ArgumentsFor<Description extends ToolDescription> = ArgumentsOf<
  Description['parameters'],
  Description extends { required: infer Needed extends readonly string[] } ? Needed : readonly []
>;

/** Number of milliseconds that a handler may take by default. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool that DEFINITION describes, with the contract's defaults (S2.1); the short description is
 *  the first sentence of the description. Throws a CallError that names a mistake (S2.2 to S2.6). */
export function defineTool<
  const List extends readonly Parameter[],
  const RequiredNames extends readonly string[] = readonly [],
>(definition: ToolDefinition<List, RequiredNames>): Tool {
  checkObject(definition);
  const { handler, preview, isReadOnly, raisedBy, ...parts } = definition;
  const { required = [], safetyLevel = 'safe', categories = [] } = parts;
  const { complexity = 'simple', keywords = [], alwaysLoad = false, limitMs = LIMIT_MS } = parts;
  const { shortDescription = firstSentence(parts.description) } = parts;
  const forLists = { shortDescription, complexity, keywords, alwaysLoad };
  // The casts are safe, because the executor only passes validated arguments.
  const run = {
    handler: handler as Tool['handler'],
    ...(preview && { preview: preview as Tool['preview'] }),
    ...(isReadOnly && { isReadOnly: isReadOnly as Tool['isReadOnly'] }),
    ...(raisedBy && { raisedBy: raisedBy as Tool['raisedBy'] }),
  };
  return Object.freeze(
    checkTool({ ...parts, required, safetyLevel, categories, limitMs, ...forLists, ...run }),
  );
}

/** Returns LEVEL, raised to cautious if it is safe. */
export function atLeastCautious(level: SafetyLevel): SafetyLevel {
  return level === 'safe' ? 'cautious' : level;
}

/** Returns TEXT up to the first period before white space or the end; all of TEXT when there is none. */
export function firstSentence(text: unknown): string {
  return /^.*?\.(?=\s|$)|^.*/s.exec(String(text))?.[0] ?? '';
}

/** Returns TOOL if it is valid. Throws a CallError that names a mistake (S2.2 to S2.6, S4.2). */
export function checkTool(tool: Tool): Tool {
  checkObject(tool);
  const toolError = toolErrorFor(tool.name);
  if (typeof tool.name !== 'string' || !NAME.test(tool.name)) {
    throw toolError('must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.');
  }
  if (!tool.description) throw toolError('must have a description.');
  parameterList(tool.parameters, toolError);
  if (typeof tool.handler !== 'function') throw toolError('must have a handler.');
  if (!SAFETY_LEVELS.includes(tool.safetyLevel)) {
    throw toolError(`has the safety level ${tool.safetyLevel}; valid are ${SAFETY_LEVELS.join(', ')}.`);
  }
  if (!COMPLEXITIES.includes(tool.complexity)) {
    throw toolError(`has the complexity ${tool.complexity}; valid are ${COMPLEXITIES.join(', ')}.`);
  }
  if (!(tool.limitMs > 0)) throw toolError(`has the limit ${tool.limitMs}; it must be milliseconds above 0.`);
  checkParameters(tool.parameters, tool.required, toolError);
  return tool;
}

function checkObject(tool: unknown): void {
  if (typeof tool !== 'object' || tool === null) {
    throw new CallError('A tool must be an object with a name, a description, parameters and a handler.');
  }
}
