// Records the searches in one workspace that led to a call: the query, and the tool that was then called.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RequestStore, ServedRequest } from '../catalog/memory.ts';
import { removeOldest } from './folder.ts';
import { DeferredWriter } from './later.ts';
import { LineFile } from './lines.ts';
import { parseLine, shapeOf, timeText } from './shorten.ts';

/** Size limit of the file in bytes, and how many full files are kept. This is more than a search ever
 *  uses. */
const FILES = { limit: 250_000, kept: 1 };

const SHAPE = shapeOf({ time: 'string', query: 'string', tool: 'string' });

export class SearchRecords implements RequestStore {
  readonly #lines: LineFile;
  #pending: string[] = [];
  readonly #writer = new DeferredWriter(() => this.#write());

  /** Keeps the records in the file PATH. */
  constructor(path: string) {
    this.#lines = new LineFile(path, FILES);
  }

  add({ query, tool }: ServedRequest): void {
    this.#pending.push(JSON.stringify({ time: timeText(Date.now()), query, tool }));
    this.#writer.schedule();
  }

  *newestFirst(): Generator<ServedRequest> {
    for (const text of this.#lines.newestFirst()) {
      const line = parseLine<ServedRequest>(text, SHAPE);
      if (line !== undefined) yield { query: line.query, tool: line.tool };
    }
  }

  #write(): void {
    const pending = this.#pending;
    this.#pending = [];
    try {
      if (!existsSync(this.#lines.path)) removeOldest(dirname(this.#lines.path));
      this.#lines.append(pending);
    } catch {
      // The searches were answered, but are not remembered.
    }
  }
}
