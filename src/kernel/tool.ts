// Defines a tool: the contract's seven parts, and what this server adds to them.

import { CallError } from '../errors.ts';
import type { QuestionLine } from '../question-line.ts';
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

/** What a call can do. Clients ask their human according to these; our own approval goes by the level. */
export interface Effects {
  /** It can change or remove something, not only add. */
  destructive: boolean;
  /** Repeating the same call changes nothing more. */
  idempotent: boolean;
  /** It can reach beyond the image and the workspace. */
  openWorld: boolean;
}

/** How much a caller must know to call a tool well. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** How a running call is watched and cancelled, and for whom it runs. */
export interface CallContext {
  signal?: AbortSignal;
  /** Called about once a second with what the call is doing. */
  onProgress?: (message: string) => void;
  /** False when no human can be asked for an approval. */
  canAsk?: boolean;
  /** Code reads the data, and nobody the text: lists are complete unless the arguments set a limit. */
  forData?: boolean;
  /** The fingerprint of the approved preview: the handler does nothing if the current one differs. */
  fingerprint?: string;
  /** A human replaced the arguments. */
  changedByHuman?: boolean;
}

/** How many keywords of a tool are sent to clients that search by themselves. */
export const MOST_KEYWORDS = 8;

/** What a human is shown before a call that needs approval, and what the approval holds for. */
export interface Preview {
  /** What the call would do, in a few words: lines changed in a file, what is lost. Names come last. */
  summary?: QuestionLine | string;
  /** What the call would do, for a person to read: for a file, a diff. A plain string is shown as foreign text. */
  text: readonly QuestionLine[] | string;
  /** The most important lines first, for where room is short; by default those of TEXT. */
  lines?: readonly QuestionLine[];
  /** The file that the call concerns, as people name it. Standing approvals refer to such places. */
  place?: string;
  /** Further files that the call concerns. */
  otherPlaces?: readonly string[];
  /** No question is needed: what the call would cost is lost already. */
  free?: boolean;
  /** Changes whenever what was shown is no longer what would happen: for instance a digest of the file. */
  fingerprint: string;
}

/** What a handler returns: DATA for code, and TEXT for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** The call did not do what was asked; TEXT says why (C8). */
  failed?: boolean;
  /** What a failed call returned all the same, as text for a model; code gets it beside TEXT (C17). */
  result?: string;
  /** TEXT says what does not exist: an answer for a model (C8), a failure for code that reads the data. */
  absent?: boolean;
  /** The image lacks what was asked for, perhaps because nothing is loaded yet. */
  unfound?: boolean;
  /** What a model should know about the call itself, apart from TEXT. */
  note?: string;
  /** TEXT is the JSON of DATA, an object. A client gets both, and some show their model only DATA. */
  structured?: boolean;
}

export interface Tool {
  readonly name: string;
  /** A few words that clients show to people. */
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly required: readonly string[];
  /** By required parameter: parameters that may be given instead of it. The handler may then get no value for it. */
  readonly instead?: { readonly [name: string]: readonly string[] };
  readonly safetyLevel: SafetyLevel;
  /** The level that its author declared, when the server treats the tool as of a higher level. */
  readonly declaredLevel?: SafetyLevel;
  /** The tool's name in standing approvals, when not its own: an approval of its own name does not cover it. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** Its effects, where they differ from what its level suggests. */
  readonly effects?: Partial<Effects>;
  /** What it does, in one short sentence for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** Further words that somebody who needs the tool may use, the best first. */
  readonly keywords: readonly string[];
  /** Clients that load tools on demand should load this one at start. */
  readonly alwaysLoad: boolean;
  /** Milliseconds that the handler may take; infinity when it has its own limits. */
  readonly limitMs: number;
  /** The tool whose standing approvals cover this tool instead of its own, because both do the same. */
  readonly allowedAs?: string;
  /** True when a call with ARGS changes nothing, and so counts as safe. */
  readonly isReadOnly?: (args: Arguments) => boolean;
  /** Returns what a call with ARGS does beyond other calls of the tool. A level that is not higher is ignored. */
  readonly raisedBy?: (args: Arguments) => Raised | undefined;
  /** Code in the image cannot call it: it would end the image, and that code with it. */
  readonly refusesCode?: boolean;
  /** Does the work. It returns a Result or a plain value; an exception is a failure (S2.8, S2.9). */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns what a human is asked to approve. Throws a CallError when the call would fail anyway, so that nobody is
   *  asked. Without it, the human sees the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

/** A call that does more than other calls of its tool: its level, and what a human is asked. */
export type Raised = Required<Pick<Tool, 'safetyLevel' | 'allowedAs' | 'preview'>>;

/** Returns TOOL for a call with ARGS: changed by its `raisedBy`, if the level is then higher. */
export function withRaisedLevel(tool: Tool, args: Arguments): Tool {
  const raise = tool.raisedBy?.(args);
  const rank = ({ safetyLevel }: Pick<Tool, 'safetyLevel'>) => SAFETY_LEVELS.indexOf(safetyLevel);
  return raise === undefined || rank(raise) <= rank(tool) ? tool : { ...tool, ...raise };
}

type Mandatory = 'name' | 'description' | 'parameters';
type Typed = 'handler' | 'preview' | 'isReadOnly' | 'raisedBy';

/** The definition of a tool. The type of its handler follows from the parameters LIST and the REQUIRED_NAMES ones. */
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

/** The part of a definition that clients see. */
export type ToolDescription = Omit<ToolDefinition, Typed>;

/** The arguments that the handler of a tool with DESCRIPTION gets. */
export type ArgumentsFor<Description extends ToolDescription> = ArgumentsOf<
  Description['parameters'],
  Description extends { required: infer Needed extends readonly string[] } ? Needed : readonly []
>;

/** Default milliseconds that a handler may take. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool that DEFINITION describes, with the defaults of the contract (S2.1); its short description defaults
 *  to its first sentence. Throws a CallError that names a mistake (S2.2 to S2.6). */
export function defineTool<
  const List extends readonly Parameter[],
  const RequiredNames extends readonly string[] = readonly [],
>(definition: ToolDefinition<List, RequiredNames>): Tool {
  checkObject(definition);
  const { handler, preview, isReadOnly, raisedBy, ...parts } = definition;
  const { required = [], safetyLevel = 'safe', categories = [] } = parts;
  const { complexity = 'simple', keywords = [], alwaysLoad = false, limitMs = LIMIT_MS } = parts;
  const { shortDescription = firstSentence(parts.description), title = titleOf(parts.name) } = parts;
  const forLists = { title, shortDescription, complexity, keywords, alwaysLoad };
  // The casts are safe: the executor passes only validated arguments.
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

/** Returns the default title of the tool NAME. */
export function titleOf(name: unknown): string {
  return String(name)
    .replace(/_/g, ' ')
    .replace(/^./, (letter) => letter.toUpperCase());
}

/** Returns the first sentence of TEXT. */
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
