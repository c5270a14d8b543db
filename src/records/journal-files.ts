// Stores the journal of an image on the disk, in a folder for each server. Removes old journals.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { digestOf } from '../files/digest.ts';
import { readIfRegular } from '../files/regular.ts';
import type { JournalEntry, JournalStore, OldJournal } from '../image/recovery/entries.ts';
import { namesInFolder } from '../leftovers.ts';
import { isOwnFile, isRunning } from '../ownership.ts';
import { workspaceDigest } from './folder.ts';
import { LineFile } from './lines.ts';
import { lineShapeOf, parseLine } from './shorten.ts';

const JOURNAL_LIMIT = 5;
const WORKSPACE_LIMIT = 100;
const ENTRIES_LIMIT = 64 * 1024 * 1024;
/** Maximum number of octets of all compressed file contents. */
const CONTENTS_LIMIT = 32 * 1024 * 1024;
/** Maximum number of octets of one file content before compression. Larger contents are not stored. */
const CONTENT_LIMIT = 64 * 1024 * 1024;

/** The line that clears the journal. Lines before it do not count. */
const CLEARED = JSON.stringify({ kind: 'cleared' });

const SHAPES = [
  lineShapeOf({ kind: ['form'], text: 'string', package: 'string', readtable: 'string?' }),
  lineShapeOf({ kind: ['package'], inPackage: 'string' }),
  lineShapeOf({ kind: ['file'], path: 'string', digest: 'string?' }),
  lineShapeOf({ kind: ['forms'], path: 'string', digest: 'string' }),
  lineShapeOf({ kind: ['system'], name: 'string' }),
];

export class JournalFiles implements JournalStore {
  readonly #workspace: string;
  readonly #folder: string;
  readonly #lines: LineFile;
  /** Maps digests to compressed contents that could not be written yet. `keep` tries it again when it gets such a
   * content again. */
  readonly #unwritten = new Map<string, Buffer>();
  #entryOctets = 0;
  #contentOctets = 0;

  /** FOLDER has one folder for each workspace. Stores the journal in a new folder inside that of the workspace ROOT. */
  constructor(folder: string, root: string) {
    this.#workspace = join(folder, workspaceDigest(root));
    const stamp = new Date().toISOString().replace(/\D/g, '');
    this.#folder = join(this.#workspace, `${stamp}-${process.pid}`);
    this.#lines = new LineFile(join(this.#folder, 'journal.jsonl'), {
      limit: Number.POSITIVE_INFINITY,
      kept: 0,
    });
  }

  append(entry: JournalEntry): void {
    this.#append(JSON.stringify(entry));
  }

  clear(): void {
    if (this.#entryOctets > 0) this.#append(CLEARED);
  }

  #append(text: string): void {
    if (this.#entryOctets === 0) this.#removeOldest();
    this.#entryOctets += text.length + 1;
    if (this.#entryOctets > ENTRIES_LIMIT)
      throw new Error(`it is full, with ${ENTRIES_LIMIT / 1024 / 1024} MB`);
    this.#lines.append(text);
  }

  keep(digest: string, content: Buffer): void {
    if (readIfPresent(this.#contentFile(digest))) return;
    const packed = this.#unwritten.get(digest) ?? this.#packedWithinLimit(content);
    if (packed === undefined) return;
    // If writing throws, the content stays here.
    this.#unwritten.set(digest, packed);
    this.#writeContent(digest, packed);
    this.#unwritten.delete(digest);
  }

  /** Compresses CONTENT, which is new, and counts it. Returns undefined when all contents would exceed the limit. */
  #packedWithinLimit(content: Buffer): Buffer | undefined {
    const packed = gzipSync(content);
    if (this.#contentOctets + packed.length > CONTENTS_LIMIT) return undefined;
    this.#contentOctets += packed.length;
    return packed;
  }

  #writeContent(digest: string, packed: Buffer): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#contentFile(digest);
    writeFileSync(`${file}.tmp`, packed, { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  }

  content(digest: string): Buffer | undefined {
    return unpack(this.#unwritten.get(digest) ?? readIfPresent(this.#contentFile(digest)), digest);
  }

  previous(): OldJournal | undefined {
    const [name] = endedServers(this.#workspace).reverse();
    if (name === undefined) return undefined;
    const folder = join(this.#workspace, name);
    // A new image will evaluate these entries. So the journal is ignored if other users can write to its file.
    if (!isOwnFile(join(folder, 'journal.jsonl'))) return undefined;
    const stored = [
      ...new LineFile(join(folder, 'journal.jsonl'), { limit: 0, kept: 0 }).newestFirst(),
    ].reverse();
    const lines = stored.slice(stored.lastIndexOf(CLEARED) + 1);
    const entries = lines.map((line) => parseLine<JournalEntry>(line, ...SHAPES));
    return {
      entries: entries.filter((entry) => entry !== undefined),
      damaged: entries.filter((entry) => entry === undefined).length,
      content: (digest) => unpack(readIfPresent(join(folder, `${digest}.gz`)), digest),
    };
  }

  #contentFile(digest: string): string {
    return join(this.#folder, `${digest}.gz`);
  }

  #removeOldest(): void {
    for (const name of endedServers(this.#workspace).slice(0, -JOURNAL_LIMIT))
      remove(join(this.#workspace, name));
    const folder = join(this.#workspace, '..');
    const isOther = (name: string) => join(folder, name) !== this.#workspace && hasEnded(join(folder, name));
    // The age of a workspace's folder is that of its last journal. The name of a journal begins with its start time.
    const oldest = namesInFolder(folder)
      .filter(isOther)
      .map((name) => ({ name, last: endedServers(join(folder, name)).at(-1) ?? '' }))
      .sort((one, other) => (one.last < other.last ? -1 : 1));
    for (const { name } of oldest.slice(0, -(WORKSPACE_LIMIT - 1))) remove(join(folder, name));
  }
}

/** Returns the names of the journals of ended servers in the folder of a workspace, the oldest first. The name of a
 * journal begins with the start time of its server. */
export function endedServers(workspace: string): string[] {
  return namesInFolder(workspace)
    .filter((name) => !isRunning(Number(/^\d{17}-(\d+)$/.exec(name)?.[1])))
    .sort();
}

/** Returns true when the folder WORKSPACE has nothing but journals of ended servers. */
function hasEnded(workspace: string): boolean {
  return endedServers(workspace).length === namesInFolder(workspace).length;
}

function unpack(packed: Buffer | undefined, digest: string): Buffer | undefined {
  try {
    const content = packed && gunzipSync(packed, { maxOutputLength: CONTENT_LIMIT });
    return content && digestOf(content) === digest ? content : undefined;
  } catch {
    return undefined; // The file is damaged.
  }
}

function readIfPresent(file: string): Buffer | undefined {
  return readIfRegular(file, { limit: CONTENTS_LIMIT })?.octets;
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The folder stays, and the next server tries again to remove it.
  }
}
