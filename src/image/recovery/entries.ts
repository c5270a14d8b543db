// Decides what an entry of the journal is, where entries are kept, and which one makes another superfluous.

import type { Digests } from './digests.ts';

/** A form that was evaluated, as the operation replay takes it. */
export interface FormEntry {
  text: string;
  package: string;
  /** Its parts that do not build the image, as paths of indexes. */
  without?: number[][];
  readtable?: string;
  policy?: unknown[];
  /** Names that it defined, but those that its text shows. */
  defines?: string[];
  /** Names of the restarts by which it went on from errors. */
  restarts?: string[];
}

/** What built the image: a form, a change of the session's package, a file or a system that was loaded. */
export type Entry =
  | ({ kind: 'form' } & FormEntry)
  | { kind: 'package'; inPackage: string }
  /** PARTIAL: it was not loaded to its end. FORGET: what it defined no more was taken out of the image. RESTARTS: as of a
   *  form. */
  | { kind: 'file'; path: string; digest?: string; partial?: boolean; forget?: boolean; restarts?: string[] }
  | FormsEntry
  | SystemEntry;

/** Some forms of a file that were loaded: the content of DIGEST has only those. NUMBERS are what numbers all forms of the file
 *  had before, WHOLE is the digest of the file then. */
export interface FormsEntry {
  kind: 'forms';
  path: string;
  digest: string;
  whole?: string;
  numbers: (number | null)[];
  partial?: boolean;
}

/** A system that was loaded, with the digests of the source files then, once they are known. */
export interface SystemEntry {
  kind: 'system';
  name: string;
  /** As of a form. */
  restarts?: string[];
  files?: Digests;
}

/** Where entries and the content of loaded files are kept. What it throws is why it cannot. */
export interface JournalStore {
  append(entry: Entry): void;
  /** Forgets what was appended. */
  clear(): void;
  keep(digest: string, content: Buffer): void;
  content(digest: string): Buffer | undefined;
  /** Returns what the server before in this workspace kept. */
  previous(): OldJournal | undefined;
}

/** What is kept of the journal of a server that has ended. */
export interface OldJournal {
  entries: Entry[];
  /** Lines that could not be read. */
  damaged: number;
  content(digest: string): Buffer | undefined;
}

/** Returns how ENTRY is named. */
export function labelOf(entry: Entry): string {
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

/** Returns about how many characters ENTRY takes; what is found out later about it does not count. */
export function sizeOf(entry: Entry): number {
  return 100 + (entry.kind === 'form' ? entry.text.length : 0);
}

/** Returns whether ENTRY makes LAST, right before it, superfluous: nothing came between that could have used it. */
export function replaces(entry: Entry, last: Entry): boolean {
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
      // What the reader evaluates could do more than define.
      if (entry.text.includes('#.') || !('text' in last) || last.text.includes('#.')) return false;
      if (/^\(def/i.test(entry.text) && JSON.stringify(entry) === JSON.stringify(last)) return true;
      const name = definedFunction(entry);
      return name !== undefined && name === definedFunction(last);
    }
  }
}

/** Returns what tells a plain definition of a function from that of another, or undefined for another form. */
function definedFunction({ text, package: home, readtable }: FormEntry): string | undefined {
  const [, name] = /^\(defun\s+([^\s()"';|\\]+)\s/i.exec(text) ?? [];
  return name === undefined ? undefined : JSON.stringify([name.toUpperCase(), home, readtable]);
}

/** Forms that are sent at once, and about how many characters. */
const BATCH = 500;
const BATCH_CHARACTERS = 1_000_000;

export type Batch = Extract<Entry, { kind: 'form' | 'package' }>[];

/** Returns the forms and changes of the package from START on, up to END, that are sent at once. */
export function nextBatch(entries: readonly Entry[], start: number, end: number): Batch {
  const batch: Batch = [];
  let characters = 0;
  for (const entry of entries.slice(start, Math.min(end, start + BATCH))) {
    if (entry.kind !== 'form' && entry.kind !== 'package') break;
    characters += (entry as Partial<FormEntry>).text?.length ?? 0;
    if (batch.length > 0 && characters > BATCH_CHARACTERS) break;
    batch.push(entry);
  }
  return batch;
}
