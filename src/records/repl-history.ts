// Records the evaluations in one workspace, for this server, and for concurrent and later servers.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { Reading } from './backwards.ts';
import { removeOldest, workspaceDigest } from './folder.ts';
import { DeferredWriter } from './later.ts';
import { LineFile } from './lines.ts';
import { parseLine, shapeOf, timeText, truncate } from './shorten.ts';

/** Size limit of a file in bytes, and how many full files are kept. */
const FILES = { limit: 2_000_000, kept: 2 };
/** Length limit of each text of an evaluation, in characters. */
const TEXT_LIMIT = 4000;
/** At most this many characters wait to be written: a burst of long evaluations must not fill the memory. */
const PENDING_LIMIT = 64 * 1024;
/** At most this many evaluations are kept in memory, when no file is used. */
const MEMORY_LIMIT = 200;

/** A recorded evaluation. */
export interface Evaluation {
  /** When the evaluation ended. */
  time: string;
  /** Id of the server that requested it; absent in records of older servers. */
  server?: string;
  /** The session's package after the evaluation, or the requested package. */
  package?: string;
  form: string;
  /** Printed values, a line for each form. */
  values?: string;
  output?: string;
  /** Why the evaluation did not end well. */
  error?: string;
  milliseconds: number;
}

/** An evaluation before it is recorded. */
type NewEvaluation = Omit<Evaluation, 'time' | 'server'>;

const SHAPE = shapeOf({
  time: 'string',
  server: 'string?',
  package: 'string?',
  form: 'string',
  values: 'string?',
  output: 'string?',
  error: 'string?',
  milliseconds: 'number',
});

/** Returns the file in FOLDER for the workspace ROOT, whichever path names it. */
export function workspaceFile(folder: string, root: string): string {
  return join(folder, `${workspaceDigest(root)}.jsonl`);
}

export class ReplHistory {
  readonly #lines: LineFile | undefined;
  /** Lines of the newest evaluations, when no file is used. */
  #memory: string[] = [];
  readonly #server = randomUUID().slice(0, 8);
  #pending: { at: number; evaluation: NewEvaluation }[] = [];
  #pendingLength = 0;
  readonly #writer = new DeferredWriter(() => this.#write());
  /** Whether a write was tried, and whether one failed. */
  #writeTried = false;
  #writeFailed = false;
  readonly #notes: string[] = [];

  /** Records evaluations in the file PATH; without PATH, keeps the newest in memory. */
  constructor(path: string | undefined) {
    this.#lines = path === undefined ? undefined : new LineFile(path, FILES);
  }

  /** The current file, if any. */
  get path(): string | undefined {
    return this.#lines?.path;
  }

  /** True when another server, concurrent or earlier, requested EVALUATION. That server has its own image. */
  isOfAnother({ server }: Evaluation): boolean {
    return server !== this.#server;
  }

  /** Records EVALUATION, which ends now. */
  add(evaluation: NewEvaluation): void {
    this.#pending.push({ at: Date.now(), evaluation });
    const { form, values = '', output = '', error } = evaluation;
    this.#pendingLength += form.length + values.length + output.length;
    // At once: the first, so that its answer reports if none can be written, and failures, which can end the server.
    const now = !this.#writeTried || error !== undefined;
    if (now || this.#pendingLength > PENDING_LIMIT) this.flush();
    else this.#writer.schedule();
  }

  /** Writes all pending evaluations. */
  flush(): void {
    this.#writer.flush();
  }

  /** Returns notes for people since the last call: that evaluations cannot be recorded. */
  takeNotes(): string[] {
    return this.#notes.splice(0);
  }

  #write(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    this.#pendingLength = 0;
    this.#writeTried = true;
    const lines = pending.map((item) => lineOf(item, this.#server));
    if (this.#lines === undefined) {
      this.#memory = [...this.#memory, ...lines].slice(-MEMORY_LIMIT);
      return;
    }
    try {
      if (!existsSync(this.#lines.path)) removeOldest(dirname(this.#lines.path));
      this.#lines.append(lines);
    } catch (error) {
      if (this.#writeFailed) return;
      this.#writeFailed = true;
      this.#notes.push(
        `Note: evaluations cannot be kept for get_repl_history (${messageOf(error)}); they go on without it.`,
      );
    }
  }

  /** Returns the recorded evaluations, newest first. READING counts the octets read. */
  *newestFirst(reading?: Reading): Generator<Evaluation> {
    this.flush();
    for (const text of this.#lines?.newestFirst(reading) ?? [...this.#memory].reverse()) {
      const line = parseLine<Evaluation>(text, SHAPE);
      if (line !== undefined) yield line;
    }
  }
}

/** Returns the line for EVALUATION, which SERVER requested and which ended at AT. */
function lineOf({ at, evaluation }: { at: number; evaluation: NewEvaluation }, server: string): string {
  const texts = Object.entries(evaluation).map(([key, value]) => [
    key,
    typeof value === 'string' ? truncate(value, TEXT_LIMIT) : value,
  ]);
  return JSON.stringify({ time: timeText(at), server, ...Object.fromEntries(texts) });
}
