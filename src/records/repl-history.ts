// Records the evaluations in a workspace. Other servers, at the same time or later, can read them.

import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { removeOldest, workspaceDigest } from './folder.ts';
import { LineFile } from './lines.ts';
import { lineShapeOf, parseLine, truncate } from './shorten.ts';

/** Maximum size of the file in bytes, and number of full files to keep. */
const FILES = { limit: 2_000_000, kept: 2 };
const TEXT_LIMIT = 4000;
/** Maximum number of evaluations that are kept in memory when there is no file. */
const MEMORY_LIMIT = 200;

export interface Evaluation {
  time: string;
  /** Id of the server that requested the evaluation; absent in records of older versions. */
  server?: string;
  /** Name of the image, if the server had several. */
  image?: string;
  /** The current package after the evaluation, or the package that the caller asked for. */
  package?: string;
  form: string;
  /** The printed values, as the answer shows them. */
  values?: string;
  output?: string;
  /** The message of the error when the evaluation failed; absent when it succeeded. */
  error?: string;
  milliseconds: number;
}

type NewEvaluation = Omit<Evaluation, 'time' | 'server' | 'image'>;

const SHAPE = lineShapeOf({
  time: 'string',
  server: 'string?',
  image: 'string?',
  package: 'string?',
  form: 'string',
  values: 'string?',
  output: 'string?',
  error: 'string?',
  milliseconds: 'number',
});

/** Returns the history file in FOLDER for the workspace ROOT. Different paths of one workspace, such as symbolic links
 * to it, give the same file. */
export function workspaceFile(folder: string, root: string): string {
  return join(folder, `${workspaceDigest(root)}.jsonl`);
}

export class ReplHistory {
  readonly #lines: LineFile | undefined;
  /** The lines for the newest evaluations, if there is no file. */
  #memory: string[] = [];
  readonly #server = randomUUID().slice(0, 8);
  readonly #image: string | undefined;
  #writeFailed = false;
  readonly #notes: string[] = [];

  /** Records evaluations in the file PATH, or in memory when PATH is undefined. IMAGE is the name of the image, if the
   * server has several. */
  constructor(path: string | undefined, image?: string) {
    this.#image = image;
    const beforeCreation = () => removeOldest(dirname(path ?? ''));
    this.#lines = path === undefined ? undefined : new LineFile(path, { ...FILES, beforeCreation });
  }

  get path(): string | undefined {
    return this.#lines?.path;
  }

  /** Returns true when another server requested the evaluation. It then ran in another image. */
  isOfAnother({ server }: Evaluation): boolean {
    return server !== this.#server;
  }

  /** Records EVALUATION, with the current time. Never throws. The first time that the file cannot be written, adds a
   * note. */
  add(evaluation: NewEvaluation): void {
    const line = lineOf(evaluation, {
      server: this.#server,
      ...(this.#image !== undefined && { image: this.#image }),
    });
    if (this.#lines === undefined) {
      this.#memory = [...this.#memory, line].slice(-MEMORY_LIMIT);
      return;
    }
    try {
      this.#lines.append(line);
    } catch (error) {
      if (this.#writeFailed) return;
      this.#writeFailed = true;
      this.#notes.push(
        `Note: evaluations still run, but are no longer recorded for get_repl_history (${messageOf(error)}).`,
      );
    }
  }

  takeNotes(): string[] {
    return this.#notes.splice(0);
  }

  /** Yields the evaluations in the workspace, newest first. If this history is for an image with a name, leaves out the
   * evaluations in images with other names. */
  *newestFirst(): Generator<Evaluation> {
    for (const text of this.#lines?.newestFirst() ?? [...this.#memory].reverse()) {
      const line = parseLine<Evaluation>(text, SHAPE);
      if (line !== undefined && (line.image ?? this.#image) === (this.#image ?? line.image)) yield line;
    }
  }
}

function lineOf(evaluation: NewEvaluation, by: Pick<Evaluation, 'server' | 'image'>): string {
  const texts = Object.entries(evaluation).map(([key, value]) => [
    key,
    typeof value === 'string' ? truncate(value, TEXT_LIMIT) : value,
  ]);
  return JSON.stringify({ time: new Date().toISOString(), ...by, ...Object.fromEntries(texts) });
}
