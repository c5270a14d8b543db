// Defines a tool: the seven fields of the contract, and additional fields of this server.

import { CallError } from '../errors.ts';
import type { QuestionLine } from '../question-line.ts';
import type { EarlierAnswers } from './earlier-answers.ts';
import type { NoticeReader } from './notice-board.ts';
import {
  type Arguments,
  type ArgumentsOf,
  checkParameters,
  type Parameter,
  parameterList,
  toolErrorFor,
} from './parameter.ts';

export const SAFETY_LEVELS = ['safe', 'cautious', 'dangerous'] as const;
export type SafetyLevel = (typeof SAFETY_LEVELS)[number];

/** The possible effects of a call. Clients use them to decide whether to ask. Our own approvals use the
 *  level. */
export interface Effects {
  /** The call can change or remove something, not only add. */
  destructive: boolean;
  idempotent: boolean;
  /** The call can reach beyond the image and the workspace. */
  openWorld: boolean;
}

/** The knowledge that a good call needs. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** Hooks to observe and cancel a running call, and the properties of its caller. */
export interface CallContext {
  signal?: AbortSignal;
  /** Called about once a second with a text on the progress. */
  onProgress?: (message: string) => void;
  /** Called about once a second with new output. The next part waits until the returned promise resolves. The
   *  answer then has no output. */
  onOutput?: (text: string) => Promise<void>;
  /** False when no human can be asked for an approval. */
  canAsk?: boolean;
  /** Set when a command makes the call: the position of the command in the notices. No approval for the
   *  session covers such a call. */
  command?: NoticeReader;
  /** True when the human makes the call on the session's page. Such an answer has no notices, which wait for
   *  a model. */
  page?: boolean;
  /** What earlier answers have already reported to the model that reads this answer. Absent when no model
   *  reads it. */
  earlierAnswers?: EarlierAnswers;
  /** True when the caller is code that reads only the data. Lists are then complete unless the arguments set
   *  a limit. */
  forData?: boolean;
  /** The fingerprint of the approved preview. The handler does nothing if the current preview has another. */
  fingerprint?: string;
  changedByHuman?: boolean;
}

/** Maximum number of keywords of a tool that give points in a search. */
export const MOST_KEYWORDS = 8;

/** The preview of a call for a human's approval. */
export interface Preview {
  /** The effect or loss in a few words, such as the changed lines. Names come last. */
  summary?: QuestionLine | string;
  /** The effect of the call for a person: for a file, a diff. A string is shown as text from outside. */
  text: readonly QuestionLine[] | string;
  /** The most important lines, shown first in little space. By default, the lines of `text`. */
  lines?: readonly QuestionLine[];
  /** The file of the call by its workspace name, to match against standing approvals. */
  place?: string;
  otherPlaces?: readonly string[];
  /** True when no approval is needed, because everything that the call could lose is already lost. */
  free?: boolean;
  /** A text that changes whenever the call would no longer match the preview, such as a digest of the
   *  file. */
  fingerprint: string;
}

/** The result of a handler: `data` for code, and `text` for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** The call failed, for the reason in `text` (C8). */
  failed?: boolean;
  /** Text for a model from a call that failed. Code gets it with `text` (C17). */
  result?: string;
  /** `text` says that something does not exist: for a model an answer (C8), for code a failure. */
  absent?: boolean;
  /** The image lacks the requested object, perhaps because nothing is loaded yet. */
  unfound?: boolean;
  /** A note for the model about the call itself, in addition to `text`. */
  note?: string;
  /** `text` is the JSON of `data`, an object. Clients get both, and some show their model only `data`. */
  structured?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly required: readonly string[];
  /** By required parameter: the parameters that can replace it. The handler then gets no value for it. */
  readonly instead?: { readonly [name: string]: readonly string[] };
  readonly safetyLevel: SafetyLevel;
  /** The level that the tool's author declared, if the server assumes a higher level. */
  readonly declaredLevel?: SafetyLevel;
  /** The tool's name in standing approvals, if another than `name`. Approvals of `name` then do not cover
   *  it. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** The effects that differ from the defaults of the level. */
  readonly effects?: Partial<Effects>;
  /** The purpose of the tool in one short sentence, for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** More words by which people may search for the tool, the best first. */
  readonly keywords: readonly string[];
  /** True for a tool that clients should load at their start even if they load others on demand. */
  readonly alwaysLoad: boolean;
  /** Time limit of the handler in milliseconds. Infinity when the handler has its own limits. */
  readonly limitMs: number;
  /** A tool with the same effect, whose standing approvals cover this tool. */
  readonly allowedAs?: string;
  /** True when a call with `args` changes nothing, and so counts as safe. */
  readonly isReadOnly?: (args: Arguments) => boolean;
  /** Returns a higher level and its approval for a call with `args` that does more than others. Ignored
   *  unless the level is higher. */
  readonly raisedBy?: (args: Arguments) => Raised | undefined;
  /** For a call without an image, if the server has several. `any`: every image gives the same result, so the
   *  tool takes no image. `all`: the call is made in each image. Absent: the call needs an image. */
  readonly images?: 'any' | 'all';
  /** True when code in the image cannot call the tool, because the tool would end the image and this code. */
  readonly refusesCode?: boolean;
  /** Performs the call. Returns a Result or a plain value. An exception is a failure (S2.8, S2.9). */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns the preview for a human's approval. Throws a CallError for a call that would fail anyway, so
   *  that no human is asked. For tools without this function, the preview is the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

/** The level of a call that does more than others of its tool, and its approval. */
type Raised = Required<Pick<Tool, 'safetyLevel' | 'allowedAs' | 'preview'>>;

/** Returns TOOL for a call with ARGS, changed by its `raisedBy` if that raises the level. */
export function withRaisedLevel(tool: Tool, args: Arguments): Tool {
  const raise = tool.raisedBy?.(args);
  const rank = ({ safetyLevel }: Pick<Tool, 'safetyLevel'>) => SAFETY_LEVELS.indexOf(safetyLevel);
  return raise === undefined || rank(raise) <= rank(tool) ? tool : { ...tool, ...raise };
}

type Mandatory = 'name' | 'description' | 'parameters';
type Typed = 'handler' | 'preview' | 'isReadOnly' | 'raisedBy';

/** The definition of a tool. `List` and `RequiredNames` determine the types of its functions' arguments. */
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

/** The fields of a definition for clients. */
export type ToolDescription = Omit<ToolDefinition, Typed>;

/** The arguments of the handler of a tool with this description. */
export type ArgumentsFor<Description extends ToolDescription> = ArgumentsOf<
  Description['parameters'],
  Description extends { required: infer Needed extends readonly string[] } ? Needed : readonly []
>;

/** Number of milliseconds that a handler may take by default. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool for DEFINITION, with the contract's defaults (S2.1). The short description is the first
 *  sentence of the description. Throws a CallError about a mistake (S2.2 to S2.6). */
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
  // The executor passes only validated arguments, so the casts are safe.
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

/** Returns TOOL if it is valid. Throws a CallError about a mistake (S2.2 to S2.6, S4.2). */
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
