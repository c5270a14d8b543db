// Defines the entries of the journal and their store. Decides when a later entry makes an earlier one unnecessary.

import type { FormEntry } from '../wire/operations.ts';
import type { Digests } from './digests.ts';

/** A step that built the image: the evaluation of a form, a change of the session's package, or the load of a file or
 * system. */
export type JournalEntry =
  | ({ kind: 'form' } & FormEntry)
  | { kind: 'package'; inPackage: string }
  | FileEntry
  | FormsEntry
  | SystemEntry;

/** The load of a file. It has the digest of the file's content. */
export interface FileEntry {
  kind: 'file';
  path: string;
  digest?: string;
  /** True when the load did not reach the end of the file. */
  partial?: boolean;
  /** True when the load was interrupted, perhaps at a time limit. If it is repeated, it may take too long again. */
  cut?: boolean;
  /** True when the load reached the end of the file, and the image has nothing left from earlier loads of the file. */
  complete?: boolean;
  /** True when the load removed definitions from the image that the file no longer had. */
  forget?: boolean;
  /** The names of the restarts that were invoked so that the load continued after errors. */
  restarts?: readonly string[];
}

interface FormsEntry {
  kind: 'forms';
  path: string;
  /** The digest of the text that was loaded. It is the text of the file, but with a number in place of each form that
   * was not loaded. */
  digest: string;
  /** The digest of the whole file at that time. */
  whole?: string;
  /** For each form of the file: null if this load evaluated the form, else the number of the same form in the file as
   * it was loaded before. */
  numbers: readonly (number | null)[];
  /** As in FileEntry. */
  partial?: boolean;
  /** As in FileEntry. */
  cut?: boolean;
}

/** The load of a system. `files` has the digests of its source files at that time, as soon as they are read. */
export interface SystemEntry {
  kind: 'system';
  name: string;
  restarts?: readonly string[];
  files?: Digests;
}

/** Returns true when ENTRY is a load of the file PATH, of a part of it, or of a system that contains it. */
export function isOfFile(entry: JournalEntry, path: string): boolean {
  if (entry.kind === 'system') return entry.files?.[path] !== undefined;
  return 'path' in entry && entry.path === path;
}

/** Returns the digest of the whole file PATH at the time of ENTRY, which must be a load of this file (see `isOfFile`).
 * Returns undefined when the digest is unknown. */
export function digestLeft(entry: JournalEntry, path: string): string | undefined {
  if (entry.kind === 'system') return entry.files?.[path];
  if (entry.kind === 'forms') return entry.whole;
  return entry.kind === 'file' ? entry.digest : undefined;
}

/** Stores entries and, by digest, the contents of files that were loaded. Each method throws when it fails. */
export interface JournalStore {
  append(entry: JournalEntry): void;
  clear(): void;
  keep(digest: string, content: Buffer): void;
  content(digest: string): Buffer | undefined;
  previous(): OldJournal | undefined;
}

/** The journal that a server left when it ended. */
export interface OldJournal {
  entries: JournalEntry[];
  /** Number of lines that could not be read. */
  damaged: number;
  content(digest: string): Buffer | undefined;
}

/** Returns a label of ENTRY for people, such as load_file with the path. */
export function labelOf(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'form': {
      const text = entry.text.replace(/\s+/g, ' ');
      return text.length > 80 ? `${text.slice(0, 80)}...` : text;
    }
    case 'file':
      return `load_file ${entry.path}`;
    case 'forms':
      return `edit_definitions ${entry.path}`;
    case 'system':
      return `load_system ${entry.name}`;
    case 'package':
      return `(in-package ${entry.inPackage})`;
  }
}

/** Returns the approximate length of ENTRY in characters. Digests that are added later are not counted. */
export function sizeOf(entry: JournalEntry): number {
  if (entry.kind !== 'form') return 100;
  const { text, package: home, readtable = '', without, policy, defines } = entry;
  const others = JSON.stringify([without, policy, defines]).length;
  return 100 + text.length + home.length + readtable.length + others;
}

/** Returns true when ENTRY makes LAST, the entry directly before it, unnecessary. No entry between them can have used
 * the effect of LAST. */
export function replaces(entry: JournalEntry, last: JournalEntry): boolean {
  if (entry.kind === 'file' && entry.complete && 'path' in last) return last.path === entry.path;
  if (entry.kind !== last.kind) return false;
  switch (entry.kind) {
    case 'package':
      return true;
    case 'system':
      return 'name' in last && last.name === entry.name;
    case 'file':
      return entry.digest !== undefined && JSON.stringify(entry) === JSON.stringify(last);
    case 'forms':
      return false;
    case 'form': {
      // Code that the reader evaluates (#.) can have other effects than to define the function.
      if (entry.text.includes('#.') || !('text' in last) || last.text.includes('#.')) return false;
      // Other forms, such as an INCF, can have a further effect each time.
      if (/^\(def/i.test(entry.text) && JSON.stringify(entry) === JSON.stringify(last)) return true;
      const name = definedFunction(entry);
      return name !== undefined && name === definedFunction(last);
    }
  }
}

/** Returns a key for the function that a simple DEFUN defines. The key has its name, the package and the readtable.
 * Returns undefined for other forms. */
function definedFunction({ text, package: home, readtable }: FormEntry): string | undefined {
  const [, name] = /^\(defun\s+([^\s()"';|\\]+)\s/i.exec(text) ?? [];
  return name === undefined ? undefined : JSON.stringify([name.toUpperCase(), home, readtable]);
}

const BATCH_FORMS = 500;
/** Approximate maximum length of a batch, in characters. */
const BATCH_CHARACTERS = 1_000_000;

/** Entries that one request of a rebuild repeats. */
export type Batch = Extract<JournalEntry, { kind: 'form' | 'package' }>[];

/** Returns the next batch of ENTRIES from the index START on. It ends before an entry that is neither a form nor a
 * change of the package, or when it is full. */
export function nextBatch(entries: readonly JournalEntry[], start: number): Batch {
  const batch: Batch = [];
  let characters = 0;
  for (const entry of entries.slice(start, start + BATCH_FORMS)) {
    if (entry.kind !== 'form' && entry.kind !== 'package') break;
    characters += sizeOf(entry);
    if (batch.length > 0 && characters > BATCH_CHARACTERS) break;
    batch.push(entry);
  }
  return batch;
}
