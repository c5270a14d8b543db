// Defines types for the backend's messages, and parses them. The program in the image can write anything to the
// connection. So members that are used outside the answered call are checked here. The ending and the data of an answer
// are not checked, because a forged answer makes only its own call fail (see tools/answer-checks.ts).

import type { ReportedEnding } from './endings.ts';
import type { Message } from './frames.ts';
import type { BackendOperations, Condition, InterruptedMember, JobProgress, Output } from './operations.ts';

/** An ability of the backend for which this SBCL does not have the necessary internals. */
interface Fallback {
  ability: string;
  /** The substitute that the backend uses in place of the ability. */
  instead: string;
  missing: string[];
}

/** The abilities that the backend does not have with this SBCL. */
export interface Lacking {
  /** The names of the abilities that are missing completely. */
  without: string[];
  fallbacks: Fallback[];
}

/** The backend's first message: the version of the protocol, the abilities that this SBCL lacks, and the addresses of
 * two words of SBCL's runtime that garbage collections change. */
export interface Hello extends Lacking {
  kind: 'hello';
  version: unknown;
  collector: { active: number; trigger: number } | undefined;
}

/** The backend's report about how a form has changed the image. The values are not checked. */
export interface ImageChange {
  /** The text of the form, if a new image must evaluate it again. */
  readonly text?: unknown;
  /** The name of the package in which `text` is read. */
  readonly package?: unknown;
  /** The parts of the form that change nothing, as paths of indexes. */
  readonly without?: unknown;
  /** How the readtable differed from the standard one. */
  readonly readtable?: unknown;
  /** How the policy of the compiler differed from that at the start. */
  readonly policy?: unknown;
  /** Names that the form defined, without those that a definition in `text` shows. */
  readonly defines?: unknown;
  /** Names of the restarts by which the form continued after errors. */
  readonly restarts?: unknown;
  /** Global variables whose values the form used. */
  readonly reads?: unknown;
  /** The name of the session's package, if the form changed it. */
  readonly inPackage?: unknown;
  /** Global variables that a part may have set that is not evaluated again. */
  readonly set?: unknown;
  /** The beginning of the form, if it changed SBCL itself. */
  readonly damages?: unknown;
  /** The beginning of the form, if it changed the image and was left before its end, or still runs (see `opens`). */
  readonly unfinished?: unknown;
  /** A number for a form that has changed the image and still runs. */
  readonly opens?: unknown;
  /** The number from `opens`, once the form has ended. */
  readonly closes?: unknown;
}

/** A report about a running job. */
export type JobReport =
  | { kind: 'built'; job: number; built: ImageChange }
  /** The job, which is a replay, now evaluates its form at `index` or, if `probing` is true, tests the image after this
   * form. */
  | { kind: 'reached'; job: number; index: number; probing: boolean };

/** A request from code in the image. `call` is the number of the request. */
export type Upcall =
  /** Calls a tool. `job` is the id of the job whose code calls the tool; undefined when the code belongs to no job. If
   * `asText` is true, the reply is the text for a model, else the data. */
  | {
      kind: 'call';
      call: number;
      job: number | undefined;
      tool: string;
      args: { [name: string]: unknown };
      asText: boolean;
      /** The package of the code; undefined for CL-USER. */
      home: string | undefined;
    }
  /** Registers a tool that code in the image defines. */
  | { kind: 'register'; call: number; definition: unknown; registration: unknown }
  /** Aborts a call, because the code no longer waits for it. */
  | { kind: 'left'; call: number };

/** Definitions and loads in a shared image that others than this server have made. */
export interface Changes {
  /** Names of definitions, or texts about loaded files. The oldest comes first. */
  texts: string[];
  /** Number of older changes, for which there is no text. */
  more: number;
}

export interface Answer<Name extends keyof BackendOperations = keyof BackendOperations> {
  ending: ReportedEnding;
  output?: Output;
  /** Output of threads that belong to no request, since the last answer. */
  background?: Output;
  /** Changes that others have made in the image since the last answer. */
  changes?: Changes;
  data: BackendOperations[Name]['data'];
}

/** A message from the backend. */
export type BackendMessage =
  | Hello
  /** `written`: the running job `id` has written `output`. `exiting`: the job has requested that the process exit. */
  | { kind: 'written' | 'exiting'; id: number; output: Output | undefined }
  /** The person who runs the image has stopped the backend in it. */
  | { kind: 'stopped' }
  | JobReport
  | Upcall
  /** A mistake in the server or in the backend. */
  | { kind: 'fault'; fault: string }
  /** The details of an error in the backend's own code, for the log of the server. */
  | { kind: 'failure'; report: string }
  /** The names of the current *FEATURES*, sent when they have changed. */
  | { kind: 'features'; features: string[] }
  /** A part of the answer to the request `id`, which is sent before the answer. */
  | { kind: 'part'; id: number; part: unknown }
  | { kind: 'answer'; id: number; answer: Answer };

/** Parses MESSAGE. Members of a wrong type are converted or left out. */
export function readMessage(message: Message): BackendMessage {
  const id = numberOf(message['id']);
  if ('hello' in message) return readHello(message);
  if ('fault' in message) return { kind: 'fault', fault: textOf(message['fault']) };
  if ('failure' in message) return { kind: 'failure', report: textOf(message['failure']) };
  if ('written' in message) return { kind: 'written', id, output: readOutput(message['written']) };
  if (message['exiting'] === true) return { kind: 'exiting', id, output: readOutput(message['output']) };
  if ('stopped' in message) return { kind: 'stopped' };
  if ('features' in message) return { kind: 'features', features: textsOf(message['features']) };
  if ('part' in message) return { kind: 'part', id, part: message['part'] };
  if ('built' in message) {
    return { kind: 'built', job: numberOf(message['job']), built: membersOf(message['built']) };
  }
  if ('replaying' in message) {
    const { job, replaying, probing } = message;
    return { kind: 'reached', job: numberOf(job), index: numberOf(replaying), probing: probing === true };
  }
  return 'call' in message ? readUpcall(message) : { kind: 'answer', id, answer: readAnswer(message) };
}

function readHello({ hello, without, fallbacks, collector }: Message): Hello {
  const { active, trigger } = membersOf(collector);
  const known = typeof active === 'number' && typeof trigger === 'number';
  return {
    kind: 'hello',
    version: hello,
    without: textsOf(without),
    fallbacks: fallbacksOf(fallbacks),
    collector: known ? { active, trigger } : undefined,
  };
}

function fallbacksOf(fallbacks: unknown): Fallback[] {
  return (Array.isArray(fallbacks) ? fallbacks : []).map((fallback) => {
    const { ability, instead, missing } = membersOf(fallback);
    return { ability: textOf(ability), instead: textOf(instead), missing: textsOf(missing) };
  });
}

function readUpcall(message: Message): Upcall {
  const call = numberOf(message['call']);
  if (message['left'] === true) return { kind: 'left', call };
  if ('register' in message) {
    const { register: definition, registration } = message;
    return { kind: 'register', call, definition, registration };
  }
  const { job, tool, args, text, package: home } = message;
  return {
    kind: 'call',
    call,
    job: typeof job === 'number' ? job : undefined,
    tool: textOf(tool),
    args: membersOf(args),
    asText: text === true,
    home: typeof home === 'string' ? home : undefined,
  };
}

function readChanges(changes: unknown, more: unknown): Changes | undefined {
  if (!Array.isArray(changes)) return undefined;
  return { texts: changes.map(String), more: typeof more === 'number' ? more : 0 };
}

function readAnswer({ id: _, output, background, changes, moreChanges, ...rest }: Message): Answer {
  const others = readChanges(changes, moreChanges);
  const [ownOutput, otherOutput] = [readOutput(output), readOutput(background)];
  return {
    ending: readEnding(rest),
    ...(ownOutput && { output: ownOutput }),
    ...(otherOutput && { background: otherOutput }),
    ...(others && { changes: others }),
    data: rest,
  };
}

function readEnding({ condition, interrupted, aborted }: Message): ReportedEnding {
  if (condition) return { kind: 'condition', condition: condition as Condition };
  if (interrupted) {
    const { frames = [], ...members } = interrupted as InterruptedMember;
    return { ...members, kind: 'interrupted', frames };
  }
  return { kind: aborted === true ? 'aborted' : 'done' };
}

/** Maximum number of characters that are kept of the beginning of an output, and of its end. The backend sends fewer,
 * but a program can send anything. */
export const OUTPUT_LIMIT = 64_000;

/** Returns OUTPUT, a member of a message that is not checked yet, as an Output; undefined when it has no text. */
export function readOutput(output: unknown): Output | undefined {
  const { text, omitted, tail } = membersOf(output);
  if (typeof text !== 'string') return undefined;
  const head = text.slice(0, OUTPUT_LIMIT);
  if (typeof omitted !== 'number') return { text: head };
  return { text: head, omitted, tail: textOf(tail ?? '').slice(-OUTPUT_LIMIT) };
}

/** Returns PROGRESS, a member of a message that is not checked yet, as a JobProgress; undefined when it is not an
 * object. */
export function readJobProgress(progress: unknown): JobProgress | undefined {
  if (typeof progress !== 'object' || progress === null) return undefined;
  const { characters, lastLine, file, collectedMilliseconds } = membersOf(progress);
  return {
    ...(typeof characters === 'number' && { characters }),
    ...(typeof lastLine === 'string' && { lastLine }),
    ...(typeof file === 'string' && { file }),
    ...(typeof collectedMilliseconds === 'number' && { collectedMilliseconds }),
  };
}

function numberOf(member: unknown): number {
  return typeof member === 'number' ? member : Number.NaN;
}

function textOf(member: unknown): string {
  return typeof member === 'string' ? member : (JSON.stringify(member) ?? 'nothing');
}

function textsOf(member: unknown): string[] {
  return Array.isArray(member) ? member.map(textOf) : [];
}

function membersOf(member: unknown): Message {
  return typeof member === 'object' && member !== null ? { ...member } : {};
}
