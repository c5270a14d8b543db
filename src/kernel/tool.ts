// Decides what a tool is: the contract's seven parts, and what this server adds to them.

import { CallError } from '../errors.ts';
import type { QuestionLine } from '../question-line.ts';
import {
  type Arguments,
  type ArgumentsOf,
  checkParameters,
  culpritOf,
  type Parameter,
  parameterList,
} from './parameter.ts';

export const SAFETY_LEVELS = ['safe', 'cautious', 'dangerous'] as const;
export type SafetyLevel = (typeof SAFETY_LEVELS)[number];

/** What a call can do to what is there. Clients ask their human by it; our own gate goes by the level. */
export interface Effects {
  /** It can change or remove what is there, and not only add to it. */
  destructive: boolean;
  /** The same call again changes nothing more. */
  idempotent: boolean;
  /** It can reach beyond the image and the workspace. */
  openWorld: boolean;
}

/** How much there is to know before calling a tool well. */
export const COMPLEXITIES = ['simple', 'moderate', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** How a call that runs can be watched and ended. */
export interface CallContext {
  signal?: AbortSignal;
  /** QuestionLine, about once a second, what the call is doing. */
  onProgress?: (message: string) => void;
  /** False when nobody can be asked for an approval. */
  canAsk?: boolean;
  /** Code reads the data, and nobody the text: lists are whole when the arguments set no limit. */
  forData?: boolean;
  /** The fingerprint of the preview that was approved: when it is another now, the handler does nothing. */
  fingerprint?: string;
  /** A human gave other arguments than were asked for. */
  changedByHuman?: boolean;
}

/** How many keywords of a tool are shown to clients that search by themselves. */
export const MOST_KEYWORDS = 8;

/** What a human is shown before a call that needs their approval, and what that approval holds for. */
export interface Preview {
  /** What the call would do in a few words: how many lines of a file change, what is lost. Names come last. */
  summary?: QuestionLine | string;
  /** What the call would do, for a person to read: for a file, a diff. A text is shown as one from outside. */
  text: readonly QuestionLine[] | string;
  /** The same where little room is, the most telling first; else the lines of TEXT. */
  lines?: readonly QuestionLine[];
  /** Where it would do it: a file as people name it. Standing approvals name such places. */
  place?: string;
  /** Further such files. */
  otherPlaces?: readonly string[];
  /** There is nothing to ask about: what the call would cost is lost already. */
  free?: boolean;
  /** Is another one whenever what was shown is no longer what would happen: a digest of the file, say. */
  fingerprint: string;
}

/** What a handler gives back: DATA for code, and how it reads for a model. */
export interface Result {
  data: unknown;
  text: string;
  /** The call did not do what was asked, and TEXT says why (C8). */
  failed?: boolean;
  /** What a call that failed returned all the same, as a model would read it; code gets it beside TEXT (C17). */
  result?: string;
  /** TEXT says what is not there: an answer for a model (C8), a failure for code that reads the data. */
  absent?: boolean;
  /** The image does not have what was asked for; that can be because nothing is loaded yet. */
  unfound?: boolean;
  /** What a model should know of the call itself, apart from TEXT. */
  note?: string;
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
  /** Parameters that can be given in place of one that is required, which the handler then does not get. */
  readonly instead?: { readonly [name: string]: readonly string[] };
  readonly safetyLevel: SafetyLevel;
  /** The level that its author gave it, where it is treated as a higher one. */
  readonly declaredLevel?: SafetyLevel;
  /** What standing approvals call it, where that is not its name: one of the name does not hold for it. */
  readonly approvedAs?: string;
  readonly categories: readonly string[];
  /** Its effects where they are others than those that its level lets one fear. */
  readonly effects?: Partial<Effects>;
  /** What it does in one short sentence, for lists and searches. */
  readonly shortDescription: string;
  readonly complexity: Complexity;
  /** Other words that somebody who needs the tool may use, the best first. */
  readonly keywords: readonly string[];
  /** A client that loads tools only when they are needed should have this one from the start. */
  readonly alwaysLoad: boolean;
  /** Milliseconds that the handler may take; infinity when it has limits of its own. */
  readonly limitMs: number;
  /** The tool of whose name standing approvals hold for it besides those of its own, where it does what that does. */
  readonly allowedAs?: string;
  /** Whether a call with such arguments changes nothing: then it is treated as safe. */
  readonly onlyLooks?: (args: Arguments) => boolean;
  /** What a call with such arguments is, when that is more than others of the tool; a lower level counts for nothing. */
  readonly raisedBy?: (args: Arguments) => Raised | undefined;
  /** Code in the image cannot call it, because it would pull the ground from under that code. */
  readonly refusesCode?: boolean;
  /** Does the work. What it returns is a Result or a plain value; what it throws is a failure (S2.8, S2.9). */
  readonly handler: (args: Arguments, context: CallContext) => unknown;
  /** Returns what a human is asked to approve. Throws a CallError when the call could not be done anyway, so that
   *  nobody is asked. Without it they are shown the arguments. */
  readonly preview?: (args: Arguments, context: CallContext) => Promise<Preview>;
}

/** A call that does more than others of its tool: its level, and what a human is asked. */
export type Raised = Required<Pick<Tool, 'safetyLevel' | 'allowedAs' | 'preview'>>;

/** Returns TOOL as it is treated when it is called with ARGS. */
export function raised(tool: Tool, args: Arguments): Tool {
  const more = tool.raisedBy?.(args);
  const rank = ({ safetyLevel }: Pick<Tool, 'safetyLevel'>) => SAFETY_LEVELS.indexOf(safetyLevel);
  return more === undefined || rank(more) <= rank(tool) ? tool : { ...tool, ...more };
}

type Mandatory = 'name' | 'description' | 'parameters';
type Typed = 'handler' | 'preview' | 'onlyLooks' | 'raisedBy';

/** What a tool is made of. Its handler is typed by its parameters, LIST, and the names of those that it NEEDS. */
export interface ToolDefinition<
  List extends readonly Parameter[] = readonly Parameter[],
  Needed extends readonly string[] = readonly string[],
> extends Pick<Tool, Exclude<Mandatory, 'parameters'>>,
    Partial<Omit<Tool, Mandatory | 'required' | Typed>> {
  readonly parameters: List;
  readonly required?: Needed;
  readonly handler: (args: ArgumentsOf<List, Needed>, context: CallContext) => unknown;
  readonly preview?: (args: ArgumentsOf<List, Needed>, context: CallContext) => Promise<Preview>;
  readonly onlyLooks?: (args: ArgumentsOf<List, Needed>) => boolean;
  readonly raisedBy?: (args: ArgumentsOf<List, Needed>) => Raised | undefined;
}

/** All of a definition that clients are shown. */
export type ToolDescription = Omit<ToolDefinition, Typed>;

/** The arguments that the handler of a tool of that DESCRIPTION gets. */
export type ArgumentsFor<Description extends ToolDescription> = ArgumentsOf<
  Description['parameters'],
  Description extends { required: infer Needed extends readonly string[] } ? Needed : readonly []
>;

/** Milliseconds that a handler may take when its tool does not say. */
const LIMIT_MS = 120_000;

const NAME = /^[a-z][a-z0-9_]*$/;

/** Returns the tool that DEFINITION describes, with the defaults of the contract (S2.1); the first sentence
 *  of its description is its short one. Throws a CallError that names what is wrong (S2.2 to S2.6). */
export function defineTool<
  const List extends readonly Parameter[],
  const Needed extends readonly string[] = readonly [],
>(definition: ToolDefinition<List, Needed>): Tool {
  checkObject(definition);
  const { handler, preview, onlyLooks, raisedBy, ...parts } = definition;
  const { required = [], safetyLevel = 'safe', categories = [] } = parts;
  const { complexity = 'simple', keywords = [], alwaysLoad = false, limitMs = LIMIT_MS } = parts;
  const { shortDescription = firstSentence(parts.description), title = titleOf(parts.name) } = parts;
  const forLists = { title, shortDescription, complexity, keywords, alwaysLoad };
  // The executor calls them with arguments that fit the parameters only.
  const run = {
    handler: handler as Tool['handler'],
    ...(preview && { preview: preview as Tool['preview'] }),
    ...(onlyLooks && { onlyLooks: onlyLooks as Tool['onlyLooks'] }),
    ...(raisedBy && { raisedBy: raisedBy as Tool['raisedBy'] }),
  };
  return Object.freeze(
    checkTool({ ...parts, required, safetyLevel, categories, limitMs, ...forLists, ...run }),
  );
}

/** Returns LEVEL, or cautious when that is higher. */
export function atLeastCautious(level: SafetyLevel): SafetyLevel {
  return level === 'safe' ? 'cautious' : level;
}

/** Returns the title of the tool NAME, for which nobody gave one. */
export function titleOf(name: unknown): string {
  return String(name)
    .replace(/_/g, ' ')
    .replace(/^./, (letter) => letter.toUpperCase());
}

/** Returns the first sentence of TEXT. */
export function firstSentence(text: unknown): string {
  return /^.*?\.(?=\s|$)|^.*/s.exec(String(text))?.[0] ?? '';
}

/** Returns TOOL when it is valid. Throws a CallError that names what is wrong (S2.2 to S2.6, S4.2). */
export function checkTool(tool: Tool): Tool {
  checkObject(tool);
  const culprit = culpritOf(tool.name);
  if (typeof tool.name !== 'string' || !NAME.test(tool.name)) {
    throw culprit('must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.');
  }
  if (!tool.description) throw culprit('must have a description.');
  parameterList(tool.parameters, culprit);
  if (typeof tool.handler !== 'function') throw culprit('must have a handler.');
  if (!SAFETY_LEVELS.includes(tool.safetyLevel)) {
    throw culprit(`has the safety level ${tool.safetyLevel}; valid are ${SAFETY_LEVELS.join(', ')}.`);
  }
  if (!COMPLEXITIES.includes(tool.complexity)) {
    throw culprit(`has the complexity ${tool.complexity}; valid are ${COMPLEXITIES.join(', ')}.`);
  }
  if (!(tool.limitMs > 0)) throw culprit(`has the limit ${tool.limitMs}; it must be milliseconds above 0.`);
  checkParameters(tool.parameters, tool.required, culprit);
  return tool;
}

function checkObject(tool: unknown): void {
  if (typeof tool !== 'object' || tool === null) {
    throw new CallError('A tool must be an object with a name, a description, parameters and a handler.');
  }
}
