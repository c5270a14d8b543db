// Decides what is kept of evaluations in one workspace, for this server, those beside it and those after it.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { Reading } from './backwards.ts';
import { removeOldest, workspaceDigest } from './folder.ts';
import { Later } from './later.ts';
import { LineFile } from './lines.ts';
import { cut, parseLine, shapeOf, timeText } from './shorten.ts';

/** Bytes of one file, and how many full ones are kept. */
const FILES = { limit: 2_000_000, kept: 2 };
/** Characters of each text of an evaluation that are kept. */
const TEXT_LIMIT = 4000;
/** Characters that wait to be written at most: a burst of long evaluations must not fill the memory. */
const WAITING_LIMIT = 64 * 1024;
/** Evaluations that are kept in memory where nothing is kept on the disk. */
const MEMORY_LIMIT = 200;

/** One evaluation. */
export interface Evaluation {
  /** When it ended. */
  time: string;
  /** Which server asked for it; absent of servers that did not note that. */
  server?: string;
  /** The session's package after it, or the one that was asked for. */
  package?: string;
  form: string;
  /** What it returned, a line for each form. */
  values?: string;
  output?: string;
  /** Why it did not end well. */
  error?: string;
  milliseconds: number;
}

/** What is known of an evaluation when it is added. */
type Added = Omit<Evaluation, 'time' | 'server'>;

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

/** Returns the file in FOLDER that is of the workspace ROOT, by whichever name. */
export function workspaceFile(folder: string, root: string): string {
  return join(folder, `${workspaceDigest(root)}.jsonl`);
}

export class ReplHistory {
  readonly #lines: LineFile | undefined;
  /** The newest evaluations where there is no file, as lines. */
  #memory: string[] = [];
  readonly #server = randomUUID().slice(0, 8);
  #waiting: { at: number; evaluation: Added }[] = [];
  #waitingLength = 0;
  readonly #later = new Later(() => this.#write());
  /** Whether something was written, or it is known that nothing can be. */
  #tried = false;
  #failed = false;
  readonly #notes: string[] = [];

  /** Keeps evaluations in the file PATH; without one, the newest of them in memory. */
  constructor(path: string | undefined) {
    this.#lines = path === undefined ? undefined : new LineFile(path, FILES);
  }

  /** The file that grows, if there is one. */
  get path(): string | undefined {
    return this.#lines?.path;
  }

  /** Returns whether another server asked for EVALUATION, one beside this or an earlier one; those have images of their own. */
  isOfAnother({ server }: Evaluation): boolean {
    return server !== this.#server;
  }

  /** Keeps EVALUATION, which ends now. */
  add(evaluation: Added): void {
    this.#waiting.push({ at: Date.now(), evaluation });
    const { form, values = '', output = '', error } = evaluation;
    this.#waitingLength += form.length + values.length + output.length;
    // The first answer tells when nothing can be kept. What made one fail could end the server next.
    const now = !this.#tried || error !== undefined;
    if (now || this.#waitingLength > WAITING_LIMIT) this.flush();
    else this.#later.soon();
  }

  /** Writes what is not written yet. */
  flush(): void {
    this.#later.now();
  }

  /** Returns, once, what its reader should know: that evaluations cannot be kept. */
  takeNotes(): string[] {
    return this.#notes.splice(0);
  }

  #write(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#tried = true;
    const lines = waiting.map((each) => lineOf(each, this.#server));
    if (this.#lines === undefined) {
      this.#memory = [...this.#memory, ...lines].slice(-MEMORY_LIMIT);
      return;
    }
    try {
      if (!existsSync(this.#lines.path)) removeOldest(dirname(this.#lines.path));
      this.#lines.append(lines);
    } catch (error) {
      if (this.#failed) return;
      this.#failed = true;
      this.#notes.push(
        `Note: evaluations cannot be kept for get_repl_history (${messageOf(error)}); they go on without it.`,
      );
    }
  }

  /** Returns the evaluations that are kept, the newest first. READING tells how much was read for that. */
  *newestFirst(reading?: Reading): Generator<Evaluation> {
    this.flush();
    for (const text of this.#lines?.newestFirst(reading) ?? [...this.#memory].reverse()) {
      const line = parseLine<Evaluation>(text, SHAPE);
      if (line !== undefined) yield line;
    }
  }
}

/** Returns the line of EVALUATION, which ended at AT and SERVER asked for. */
function lineOf({ at, evaluation }: { at: number; evaluation: Added }, server: string): string {
  const texts = Object.entries(evaluation).map(([key, value]) => [
    key,
    typeof value === 'string' ? cut(value, TEXT_LIMIT) : value,
  ]);
  return JSON.stringify({ time: timeText(at), server, ...Object.fromEntries(texts) });
}
