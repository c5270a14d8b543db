// Defines a tool: the seven fields of the tool contract (see docs/develop/contracts.md), and further fields for this
// server.

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

/** The possible effects of a call. Clients use them to decide whether to ask their human. To decide whether a call
 * needs approval, live-lisp uses only its safety level. */
export interface Effects {
  /** True when the call can change or remove something that exists. */
  destructive: boolean;
  idempotent: boolean;
  /** True when the call can have effects outside the image and the workspace. */
  openWorld: boolean;
}

/** The amount of knowledge that a good call of the tool needs. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** Functions to observe and cancel a running call, and facts about its caller. */
export interface CallContext {
  signal?: AbortSignal;
  /** Called about once a second with a text about the progress. */
  onProgress?: (message: string) => void;
  /** Called about once a second with new output. The next output is held back until the returned promise resolves. With
   * this function, the answer contains no output. */
  onOutput?: (text: string) => Promise<void>;
  /** False when no human can be asked for approval. */
  canAsk?: boolean;
  /** The position of the calling command in the sequence of notices; absent for other callers. Approvals for the
   * session do not cover calls by a command. */
  command?: NoticeReader;
  /** True when the human makes the call on the session's page. Its answer has no notices, because they are for a
   * model. */
  page?: boolean;
  /** The texts of earlier answers to the same model. Absent when no model reads the answer. */
  earlierAnswers?: EarlierAnswers;
  /** True when the caller is code that reads only the data. Lists are then complete, unless the arguments set a
   * limit. */
  forData?: boolean;
  /** The fingerprint of the preview that the human approved. The handler does nothing when the current preview has
   * another fingerprint. */
  fingerprint?: string;
  /** True when the human who approved the call changed its arguments. The answer to the model then shows the edit. */
  changedByHuman?: boolean;
}

/** Maximum number of keywords of a tool that count in a search. */
export const MOST_KEYWORDS = 8;

/** The preview of a call for a human's approval. */
export interface Preview {
  /** The effect or the loss in a few words, such as the changed lines. Names come last, because they can contain
   * misleading text of the program or the client. */
  summary?: QuestionLine | string;
  /** Shows a person the effect of the call: for a file, a diff. A plain string is marked as text that live-lisp did not
   * write. */
  text: readonly QuestionLine[] | string;
  /** The most important lines, for a client with little space. By default, the lines of `text`. */
  lines?: readonly QuestionLine[];
  /** The workspace name of the file that the call concerns. Standing approvals are matched against it. Absent for a
   * call without files. */
  place?: string;
  /** Those of further files that the call concerns. */
  otherPlaces?: readonly string[];
  /** True when the call needs no approval, because it cannot lose anything that still exists. */
  free?: boolean;
  /** A text, such as a digest of the file, that differs when the call would no longer have the effect in the
   * preview. */
  fingerprint: string;
}

/** The result of a handler: `data` for code, `text` for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** True when the call failed; `text` is the reason. */
  failed?: boolean;
  /** The text of the result, for a model, when the call failed but has a result. Code gets it together with `text`. */
  result?: string;
  /** True when `text` says that something does not exist. For a model this is an answer, for code and for a command a
   * failure. */
  absent?: boolean;
  /** True when the image does not have the requested object, perhaps because its file is not loaded yet. */
  unfound?: boolean;
  /** A note to the model about the call itself, which follows `text`. */
  note?: string;
  /** True when `text` is the JSON of `data`, an object. Clients get both, and some show their model only `data`. */
  structured?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly required: readonly string[];
  /** Maps a required parameter to the parameters that can be given in its place. The handler then gets no value for the
   * required parameter. */
  readonly instead?: { readonly [name: string]: readonly string[] };
  readonly safetyLevel: SafetyLevel;
  /** The level that the tool's author declared, if the server assumes a higher level. */
  readonly declaredLevel?: SafetyLevel;
  /** The name of the tool in standing approvals, if it is not `name`. Approvals of `name` then do not cover the
   * tool. Set for a tool that code of an agent registered. Takes precedence over `allowedAs`. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** The effects of the tool, where they differ from the defaults of its level. */
  readonly effects?: Partial<Effects>;
  /** The purpose of the tool in one short sentence, for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** Further words by which people may search for the tool. The best come first. */
  readonly keywords: readonly string[];
  /** True for a tool that clients should load at their start even if they load others on demand. */
  readonly alwaysLoad: boolean;
  /** Maximum number of milliseconds that the handler may take. Infinity when the handler limits its time itself. */
  readonly limitMs: number;
  /** The name of a tool with the same effect. Standing approvals of that tool cover this tool; those of `name` then do
   * not. */
  readonly allowedAs?: string;
  /** Returns true when a call with `args` changes nothing. Such a call counts as safe. */
  readonly isReadOnly?: (args: Arguments) => boolean;
  /** If a call with `args` does more than other calls of the tool, returns what counts for it: a higher safety level,
   * the preview, and `allowedAs`. The result is ignored unless its level is higher than that of the tool. */
  readonly raisedBy?: (args: Arguments) => Raised | undefined;
  /** How a server with several images performs a call that names no image. `any`: in the first image, because all would
   * give the same result; the tool then has no parameter `image`. `all`: in each image. Absent: in the default image;
   * without such, the call must name an image. */
  readonly images?: 'any' | 'all';
  /** True when code in the image cannot call the tool, because the call would end the image and this code with it. */
  readonly refusesCode?: boolean;
  /** Performs the call. Returns a Result or a plain value. An exception makes the call a failure. */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns the preview for a human's approval. Throws a CallError when the call would fail anyway, so that no human
   * is asked. Without this function, the preview shows the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

/** The level, `allowedAs` and preview of a call that does more than other calls of its tool. */
type Raised = Required<Pick<Tool, 'safetyLevel' | 'allowedAs' | 'preview'>>;

/** Returns TOOL for a call with ARGS. If its `raisedBy` returns a higher level, TOOL gets this level, and the preview
 * and `allowedAs` that belong to it. */
export function withRaisedLevel(tool: Tool, args: Arguments): Tool {
  const raise = tool.raisedBy?.(args);
  const rank = ({ safetyLevel }: Pick<Tool, 'safetyLevel'>) => SAFETY_LEVELS.indexOf(safetyLevel);
  return raise === undefined || rank(raise) <= rank(tool) ? tool : { ...tool, ...raise };
}

type Mandatory = 'name' | 'description' | 'parameters';
type Typed = 'handler' | 'preview' | 'isReadOnly' | 'raisedBy';

/** The definition of a tool. `List` and `RequiredNames` determine the types of the arguments of its functions. */
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

/** The type of the arguments that the handler of a tool with this description gets. */
export type ArgumentsFor<Description extends ToolDescription> = ArgumentsOf<
  Description['parameters'],
  Description extends { required: infer Needed extends readonly string[] } ? Needed : readonly []
>;

/** Maximum number of milliseconds that a handler may take, unless the tool has its own limit. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool for DEFINITION. Parts that DEFINITION leaves out get their defaults. The default of the short
 * description is the first sentence of the description. Throws a CallError when DEFINITION is invalid. */
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

/** Returns LEVEL, or `cautious` when LEVEL is `safe`. */
export function atLeastCautious(level: SafetyLevel): SafetyLevel {
  return level === 'safe' ? 'cautious' : level;
}

/** Returns TEXT up to the first period that ends a sentence; all of TEXT when there is none. */
function firstSentence(text: unknown): string {
  return /^.*?\.(?=\s|$)|^.*/s.exec(String(text))?.[0] ?? '';
}

/** Returns TOOL. Throws a CallError when it is invalid. */
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
