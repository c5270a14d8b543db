// Defines the entries of the journal and their store, and decides when a later entry makes an earlier one
// superfluous.

import type { FormEntry } from '../wire/operations.ts';
import type { Digests } from './digests.ts';

/** A step that built the image: a form, a change of the session's package, or a load of a file or system. */
export type JournalEntry =
  | ({ kind: 'form' } & FormEntry)
  | { kind: 'package'; inPackage: string }
  | FileEntry
  | FormsEntry
  | SystemEntry;

/** A load of a file, with the digest of its content. */
export interface FileEntry {
  kind: 'file';
  path: string;
  digest?: string;
  /** True when the load did not reach the end of the file. */
  partial?: boolean;
  /** True when the load was interrupted, perhaps at a time limit. Another load can take too long as well. */
  cut?: boolean;
  /** True when the load reached the end of the file, and nothing from an earlier load of the file is left in
   *  the image. */
  complete?: boolean;
  /** True when definitions that the file no longer has were removed from the image. */
  forget?: boolean;
  /** Names of the restarts by which the load continued after errors. */
  restarts?: readonly string[];
}

interface FormsEntry {
  kind: 'forms';
  path: string;
  /** Digest of the loaded text: the text of the file, with a number in place of each form that was not
   *  loaded. */
  digest: string;
  /** Digest of the whole file at that time. */
  whole?: string;
  /** For each form of the file, its earlier number in the file, or null for a loaded form. */
  numbers: readonly (number | null)[];
  partial?: boolean;
  cut?: boolean;
}

/** A load of a system. `files` has the digests of its source files at that time, once they are read. */
export interface SystemEntry {
  kind: 'system';
  name: string;
  restarts?: readonly string[];
  files?: Digests;
}

/** True when ENTRY is a load of the file PATH or a part of it. */
export function isOfFile(entry: JournalEntry, path: string): boolean {
  if (entry.kind === 'system') return entry.files?.[path] !== undefined;
  return 'path' in entry && entry.path === path;
}

/** Returns the digest of the whole file PATH after ENTRY, for which `isOfFile` is true; undefined when
 *  unknown. */
export function digestLeft(entry: JournalEntry, path: string): string | undefined {
  if (entry.kind === 'system') return entry.files?.[path];
  if (entry.kind === 'forms') return entry.whole;
  return entry.kind === 'file' ? entry.digest : undefined;
}

/** Stores entries, and the contents of loaded files by digest. The methods throw on failure. */
export interface JournalStore {
  append(entry: JournalEntry): void;
  clear(): void;
  keep(digest: string, content: Buffer): void;
  content(digest: string): Buffer | undefined;
  previous(): OldJournal | undefined;
}

/** The stored journal of a server that has ended. */
export interface OldJournal {
  entries: JournalEntry[];
  /** Number of lines that could not be read. */
  damaged: number;
  content(digest: string): Buffer | undefined;
}

/** Returns a label of ENTRY for people, such as load_file and the path. */
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

/** Returns the approximate length of ENTRY in characters. Digests that are added later do not count. */
export function sizeOf(entry: JournalEntry): number {
  if (entry.kind !== 'form') return 100;
  const { text, package: home, readtable = '', without, policy, defines } = entry;
  const others = JSON.stringify([without, policy, defines]).length;
  return 100 + text.length + home.length + readtable.length + others;
}

/** True when ENTRY makes LAST, the entry directly before it, superfluous. No entry between the two can have
 *  used the result of LAST. */
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
      // Code that the reader evaluates (#.) can do more than define the function.
      if (entry.text.includes('#.') || !('text' in last) || last.text.includes('#.')) return false;
      if (/^\(def/i.test(entry.text) && JSON.stringify(entry) === JSON.stringify(last)) return true;
      const name = definedFunction(entry);
      return name !== undefined && name === definedFunction(last);
    }
  }
}

/** Returns a key of the function that a plain DEFUN defines (name, package, readtable); undefined for other
 *  forms. */
function definedFunction({ text, package: home, readtable }: FormEntry): string | undefined {
  const [, name] = /^\(defun\s+([^\s()"';|\\]+)\s/i.exec(text) ?? [];
  return name === undefined ? undefined : JSON.stringify([name.toUpperCase(), home, readtable]);
}

const BATCH_FORMS = 500;
/** Approximate maximum length of a batch, in characters. */
const BATCH_CHARACTERS = 1_000_000;

/** Entries for one request of a rebuild. */
export type Batch = Extract<JournalEntry, { kind: 'form' | 'package' }>[];

/** Returns the next batch of ENTRIES from index START on. It ends before an entry that is no form or package
 *  change, or at the limits of a batch. */
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
