// Records the searches in one workspace that led to a call: the request, and the tool that was called.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Served, ServedStore } from '../catalog/memory.ts';
import { removeOldest } from './folder.ts';
import { Later } from './later.ts';
import { LineFile } from './lines.ts';
import { parseLine, shapeOf, timeText } from './shorten.ts';

/** Size limit of a file in bytes, and how many full files are kept: more than is ever remembered. */
const FILES = { limit: 250_000, kept: 1 };

const SHAPE = shapeOf({ time: 'string', query: 'string', tool: 'string' });

export class SearchRecords implements ServedStore {
  readonly #lines: LineFile;
  #waiting: string[] = [];
  readonly #later = new Later(() => this.#write());

  /** The records in the file PATH. */
  constructor(path: string) {
    this.#lines = new LineFile(path, FILES);
  }

  add({ query, tool }: Served): void {
    this.#waiting.push(JSON.stringify({ time: timeText(Date.now()), query, tool }));
    this.#later.soon();
  }

  *newestFirst(): Generator<Served> {
    for (const text of this.#lines.newestFirst()) {
      const line = parseLine<Served>(text, SHAPE);
      if (line !== undefined) yield { query: line.query, tool: line.tool };
    }
  }

  #write(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      if (!existsSync(this.#lines.path)) removeOldest(dirname(this.#lines.path));
      this.#lines.append(waiting);
    } catch {
      // The searches are answered all the same, but not remembered.
    }
  }
}
