// Decides what is kept of evaluations in one workspace, for this server, those beside it and those after it.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { LineFile } from './lines.ts';
import { cut, now, parseLine, type Shape } from './shorten.ts';

/** Bytes of one file, and how many full ones are kept. */
const FILES = { limit: 2_000_000, kept: 2 };
/** Characters of each text of an evaluation that are kept. */
const TEXT_LIMIT = 4000;
/** Files in the folder of all histories; those that were not written for longest go. */
const FOLDER_LIMIT = 200;

/** One evaluation. */
export interface Evaluation {
  /** When it ended. */
  time: string;
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

const SHAPE: Shape = {
  time: 'string',
  package: 'string?',
  form: 'string',
  values: 'string?',
  output: 'string?',
  error: 'string?',
  milliseconds: 'number',
};

/** Returns the file in FOLDER that has the history of the workspace ROOT, by whichever name. */
export function historyFile(folder: string, root: string): string {
  return join(folder, `${createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 24)}.jsonl`);
}

export class ReplHistory {
  readonly #lines: LineFile;
  #told = false;

  constructor(path: string) {
    this.#lines = new LineFile(path, FILES);
  }

  /** The file that grows. */
  get path(): string {
    return this.#lines.path;
  }

  /** Keeps EVALUATION, which ends now. Returns, the first time that it cannot, what its reader should know. */
  add(evaluation: Omit<Evaluation, 'time'>): string | undefined {
    const texts = Object.entries({ time: now(), ...evaluation }).map(([key, value]) => [
      key,
      typeof value === 'string' ? cut(value, TEXT_LIMIT) : value,
    ]);
    try {
      if (!existsSync(this.path)) removeOldest(dirname(this.path));
      this.#lines.append(JSON.stringify(Object.fromEntries(texts)));
    } catch (error) {
      if (this.#told) return undefined;
      this.#told = true;
      return `Note: evaluations cannot be kept for get_repl_history (${messageOf(error)}); they go on without it.`;
    }
    return undefined;
  }

  /** Returns the evaluations that are kept, the newest first. */
  *newestFirst(): Generator<Evaluation> {
    for (const text of this.#lines.newestFirst()) {
      const line = parseLine<Evaluation>(text, SHAPE);
      if (line !== undefined) yield line;
    }
  }
}

/** Removes files of FOLDER until there is room for one more. */
function removeOldest(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of files.slice(FOLDER_LIMIT - 1)) rmSync(path, { force: true });
}
