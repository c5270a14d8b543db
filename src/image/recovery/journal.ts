// Records the steps that built the image, in order, so that a lost image can be rebuilt.

import { messageOf } from '../../errors.ts';
import { digestOf } from '../../files/digest.ts';
import { LoadedFileReader } from './digests.ts';
import { digestLeft, isOfFile, type JournalEntry, type JournalStore, replaces, sizeOf } from './entries.ts';
import type { JournalNote } from './report.ts';

const ENTRY_LIMIT = 20_000;
/** Maximum number of characters of all entries together. */
const TEXT_LIMIT = 32 * 1024 * 1024;

export class Journal {
  readonly #store: JournalStore | undefined;
  #entries: JournalEntry[] = [];
  #characters = 0;
  readonly #notes: JournalNote[] = [];
  #full = false;
  #hasPrevious = false;
  #storeFailed = false;

  readonly files: LoadedFileReader;

  /** Stores the entries in STORE. If STORE is undefined, the journal stays empty and no image is rebuilt. */
  constructor(store: JournalStore | undefined, files = new LoadedFileReader()) {
    this.#store = store;
    this.files = files;
  }

  get isEnabled(): boolean {
    return this.#store !== undefined;
  }

  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  takeNotes(): JournalNote[] {
    return this.#notes.splice(0);
  }

  clear(): void {
    this.#hasPrevious = false;
    this.#empty();
  }

  #empty(): void {
    this.#entries = [];
    this.#characters = 0;
    this.#full = false;
    this.#write((store) => store.clear());
  }

  /** Reads the journal of the previous server, and puts its entries in front of those of this server. Does this only
   * once. Returns the number of damaged lines in that journal; undefined when there is none. */
  takePrevious(): number | undefined {
    if (this.#hasPrevious) return 0;
    const previous = this.#store?.previous();
    if (previous === undefined) return undefined;
    const own = this.#entries;
    this.#empty();
    this.#hasPrevious = true;
    for (const entry of previous.entries) {
      const content = 'digest' in entry && entry.digest && previous.content(entry.digest);
      if (content) this.keep(content);
      this.add(entry);
    }
    for (const entry of own) this.add(entry);
    return previous.damaged;
  }

  /** Returns true when NOW, the content of the file PATH, is the content at the last load of the file or at the last
   * edit of definitions in it. A rebuild repeats both. */
  hasAsLoaded(path: string, now: Buffer | undefined): boolean {
    const last = this.#entries.findLast((entry) => isOfFile(entry, path));
    const digest = last && digestLeft(last, path);
    return digest !== undefined && now !== undefined && digest === digestOf(now);
  }

  drop(entry: JournalEntry): void {
    const others = this.#entries.filter((each) => each !== entry);
    this.#empty();
    for (const each of others) this.add(each);
  }

  /** Appends ENTRY. First removes entries at the end that ENTRY makes unnecessary. */
  add(entry: JournalEntry): void {
    if (!this.isEnabled || this.#full) return;
    for (let last = this.#entries.at(-1); last && replaces(entry, last); last = this.#entries.at(-1)) {
      this.#entries.pop();
      this.#characters -= sizeOf(last);
    }
    this.#characters += sizeOf(entry);
    if (this.#entries.length >= ENTRY_LIMIT || this.#characters > TEXT_LIMIT) {
      this.#full = true;
      this.#notes.push({ kind: 'journal full', entries: this.#entries.length });
      return;
    }
    this.#entries.push(entry);
    this.#write((store) => store.append(entry));
  }

  /** Stores CONTENT, of a file that was loaded, and returns its digest. */
  keep(content: Buffer): string {
    const digest = digestOf(content);
    this.#write((store) => store.keep(digest, content));
    return digest;
  }

  content(digest: string): Buffer | undefined {
    return this.#store?.content(digest);
  }

  #write(act: (store: JournalStore) => void): void {
    try {
      if (this.#store) act(this.#store);
    } catch (error) {
      if (!this.#storeFailed) this.#notes.push({ kind: 'journal unwritable', why: messageOf(error) });
      this.#storeFailed = true;
    }
  }
}
