// Finds buffers: files of the workspace, which a call names by path or by unique base name.

import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CallError } from '../../errors.ts';
import { withFileTimeout } from '../../files/answering.ts';
import { type Budget, budgetOf } from '../../files/budget.ts';
import { type Excerpt, readLines } from '../../files/lines.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { nearest } from '../../kernel/nearest.ts';
import { boundLines } from '../../kernel/reply.ts';
import { visibleName } from '../../visible.ts';

/** A text that is read in ranges of lines. */
export interface TextBuffer {
  /** The name of the buffer in answers. */
  name: string;
  note?: string;
  /** Diffs of edits that wait for approval by a human. */
  pending: string[];
  /** Reads the lines from number `first` (from 1) on, as readLines does. */
  read(first: number, signal?: AbortSignal): Promise<Excerpt | string>;
}

/** Returns the diffs of edits to the file NAME that wait for approval by a human. */
export type PendingEdits = (name: string) => string[];

const PENDING_LINES = 200;

/** Returns a section with the PENDING edits; undefined when there are none. TEXT is a phrase for the text
 * without these edits, such as 'the text above'. */
export function pendingSection(pending: readonly string[], text: string): string | undefined {
  const [first, ...more] = pending;
  if (first === undefined) return undefined;
  const count = more.length === 0 ? 'An edit of it waits' : `${pending.length} edits of it wait`;
  const edits = pending.map((edit) => boundLines(edit, PENDING_LINES));
  return [`${count} for approval, and ${more.length === 0 ? 'is' : 'are'} not in ${text}:`, ...edits].join(
    '\n\n',
  );
}

/** Limits of the search for a base name: number of directory entries, and milliseconds. */
const FIND_ENTRIES = 50_000;
const FIND_MS = 3000;
/** Limits of a search of all files: number of directory entries, and milliseconds. */
const SEARCH_ENTRIES = 100_000;
const SEARCH_MS = 10_000;

/** Returns a new budget for a search of all files. */
export function searchBudget(): Budget {
  return budgetOf(SEARCH_ENTRIES, SEARCH_MS);
}

const LIST_LIMIT = 20;

/** The files of a workspace as buffers. */
export class WorkspaceBuffers {
  readonly #workspace: Workspace;
  readonly #pendingEdits: PendingEdits;

  constructor(workspace: Workspace, pendingEdits: PendingEdits = () => []) {
    this.#workspace = workspace;
    this.#pendingEdits = pendingEdits;
  }

  /** Returns the buffer NAME. Throws a CallError with candidates when no file, or several, have this name. */
  async find(name: string): Promise<TextBuffer> {
    const { real, missing } = await this.#workspace.locate(name, 'read');
    if (missing.length === 0) return this.#withNotes(real, name);
    const newName = this.#workspace.name(join(real, ...missing));
    const pending = pendingSection(this.#pendingEdits(newName), 'the workspace');
    if (pending !== undefined)
      throw new CallError(`There is no file ${visibleName(newName)} yet. ${pending}`);
    const { paths, budget } = await this.#files();
    const matching = paths.filter((path) => basename(path) === name);
    const [only] = matching;
    const note = budget.exceeded
      ? `Only the first ${FIND_ENTRIES - budget.entries} entries of the workspace were looked at for this name.`
      : undefined;
    if (only === undefined)
      throw new CallError([this.#unknownText(name, paths), note].filter(Boolean).join(' '));
    if (matching.length > 1) throw new CallError(this.#severalText(name, matching));
    return this.#withNotes(only, only, note);
  }

  /** Returns the buffer of the file at the real path REAL. PATH is the path in the call. A note says when an
   * editor has unsaved changes of the file. */
  async #withNotes(real: string, path: string, note?: string): Promise<TextBuffer> {
    const editor = await this.#workspace.unsavedIn(real);
    const unsaved = editor && `It has unsaved changes in ${editor}; this is the text on the disk.`;
    const notes = [note, unsaved].filter((each) => each !== undefined);
    return { ...this.#buffer(real, path), ...(notes.length > 0 && { note: notes.join(' ') }) };
  }

  /** Throws a CallError with similar names when PATH does not exist. */
  async confirmExists(path: string): Promise<void> {
    const { missing } = await this.#workspace.locate(path, 'read');
    if (missing.length === 0) return;
    const listing = await this.#files().catch(() => undefined);
    const similar = listing && this.#similarText(path, listing.paths);
    throw new CallError([this.#workspace.noFile(path).message, similar].filter(Boolean).join(' '));
  }

  async #files(): Promise<{ paths: string[]; budget: Budget }> {
    const budget = budgetOf(FIND_ENTRIES, FIND_MS);
    const paths: string[] = [];
    for await (const path of filesBelow(this.#workspace, this.#workspace.rootFolders(), budget))
      paths.push(path);
    return { paths, budget };
  }

  #unknownText(name: string, paths: string[]): string {
    const similar = this.#similarText(name, paths);
    return `There is no file ${visibleName(name)} in the workspace ${this.#workspace.root}. ${similar}`;
  }

  #similarText(name: string, paths: string[]): string {
    const similar = nearest(basename(name), [...new Set(paths.map((path) => basename(path)))]);
    const files = similar.flatMap((base) => paths.filter((path) => basename(path) === base).slice(0, 3));
    return files.length > 0 ? `Similar names: ${this.#names(files)}.` : 'No file has a similar name.';
  }

  #severalText(name: string, paths: string[]): string {
    const more = paths.length > LIST_LIMIT ? `, and ${paths.length - LIST_LIMIT} more` : '';
    const listed = this.#names(paths.slice(0, LIST_LIMIT));
    return `${paths.length} files are named ${visibleName(name)}: ${listed}${more}. Give the path of one.`;
  }

  #names(paths: string[]): string {
    return paths.map((path) => visibleName(this.#workspace.name(path))).join(', ');
  }

  /** Yields the buffers in FOLDER, or in the whole workspace, within BUDGET. Returns undefined when FOLDER
   * does not exist. */
  async below(folder: string | undefined, budget: Budget): Promise<AsyncIterable<TextBuffer> | undefined> {
    if (folder === undefined) return this.#buffersIn(this.#workspace.rootFolders(), budget);
    const { real, missing } = await this.#workspace.locate(folder, 'read');
    // The directory may have disappeared in the meantime.
    const stats =
      missing.length === 0
        ? await withFileTimeout(real, () => lstat(real)).catch(() => undefined)
        : undefined;
    return stats?.isDirectory() ? this.#buffersIn([real], budget) : undefined;
  }

  async *#buffersIn(folders: readonly string[], budget: Budget): AsyncGenerator<TextBuffer> {
    for await (const path of filesBelow(this.#workspace, folders, budget)) yield this.#buffer(path, path);
  }

  #buffer(real: string, path: string): TextBuffer {
    const name = this.#workspace.name(real);
    return {
      name,
      pending: this.#pendingEdits(name),
      read: (first, signal) => this.#workspace.read(path, (file) => readLines(file, first, signal)),
    };
  }
}
