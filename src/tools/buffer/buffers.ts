// Finds buffers. A buffer is a file of the workspace; a call names it by its path, or by its file name if only one file
// has this name.

import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CallError } from '../../errors.ts';
import { withFileTimeout } from '../../files/answering.ts';
import { type Budget, budgetOf } from '../../files/budget.ts';
import { type Excerpt, linesIn, readLines } from '../../files/lines.ts';
import type { Unsaved } from '../../files/unsaved.ts';
import { filesBelow, isSkippedBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { nearest } from '../../kernel/nearest.ts';
import { boundLines } from '../../kernel/reply.ts';
import { visibleName } from '../../visible.ts';
import { silentSentence, silentText } from '../unsaved.ts';

/** A text from which ranges of lines can be read. */
export interface TextBuffer {
  /** The name of the buffer as answers show it. */
  name: string;
  /** The name of an editor that has unsaved changes of the file; absent when none has, and in the buffers of `below`,
   * which asks no editor. */
  unsavedIn?: string;
  /** True when `read` returns the unsaved text of that editor. Otherwise it returns the text on the disk. */
  isUnsavedText?: boolean;
  /** The diffs of edits of the file that wait for a human's approval. */
  pending: string[];
  /** Reads the lines from line number `first` (1-based) on, as readLines does. */
  read(first: number, signal?: AbortSignal): Promise<Excerpt | string>;
}

/** A buffer that a call named. */
export interface NamedBuffer extends TextBuffer {
  note?: string;
  /** The name of an editor whose changes may be missing from the text that `read` returns: it has unsaved changes, or
   * it did not say whether it has any. */
  lacksChangesIn?: string;
}

/** Returns the diffs of edits of the file `name` that wait for a human's approval. */
export type PendingEdits = (name: string) => string[];

const PENDING_LINES = 200;

/** Returns a section with the diffs PENDING; undefined when there are none. TEXT is a phrase for the text that does not
 * have these edits yet, such as 'the text above'. */
export function pendingSection(pending: readonly string[], text: string): string | undefined {
  const [first, ...more] = pending;
  if (first === undefined) return undefined;
  const count = more.length === 0 ? 'An edit of it waits' : `${pending.length} edits of it wait`;
  const edits = pending.map((edit) => boundLines(edit, PENDING_LINES));
  return [`${count} for approval, and ${more.length === 0 ? 'is' : 'are'} not in ${text}:`, ...edits].join(
    '\n\n',
  );
}

/** Limits of the search for a file name: number of directory entries, and milliseconds. */
const FIND_ENTRIES = 50_000;
const FIND_MS = 3000;
/** Limits of a search of all files: number of directory entries, and milliseconds. */
const SEARCH_ENTRIES = 100_000;
const SEARCH_MS = 10_000;

/** Returns a budget for a search of all files. */
export function searchBudget(): Budget {
  return budgetOf(SEARCH_ENTRIES, SEARCH_MS);
}

const LIST_LIMIT = 20;

/** In place of the unsaved texts, when only the texts on the disk count. */
const NOTHING_UNSAVED: Unsaved = { files: [] };

/** The files of a workspace as buffers. */
export class WorkspaceBuffers {
  readonly #workspace: Workspace;
  readonly #pendingEdits: PendingEdits;

  constructor(workspace: Workspace, pendingEdits: PendingEdits = () => []) {
    this.#workspace = workspace;
    this.#pendingEdits = pendingEdits;
  }

  /** Returns the buffer NAME. NAME is first taken as a path, of a file on the disk or of one that only an editor has,
   * and then as a file name. If an editor has an unsaved text of the file, the buffer has this text. Throws a CallError
   * with candidates when no file or several files have this name. */
  async find(name: string): Promise<NamedBuffer> {
    const { real, missing } = await this.#workspace.locate(name, 'read');
    if (missing.length === 0) return this.#noted(real, name, await this.#workspace.unsavedBelow(real));
    const newFile = join(real, ...missing);
    // Unlike `rootFolders`, this does not throw when there are no roots: NEW_FILE can be in a read root.
    const unsaved = await this.#unsavedBelowAll(this.#workspace.realRoots);
    if (await this.#isOnlyUnsaved(newFile, unsaved)) return this.#noted(newFile, name, unsaved);
    this.#checkNotProposed(this.#workspace.name(newFile));
    return this.#findByFileName(name, newFile, unsaved);
  }

  /** Throws a CallError when an edit that would create the file NAME waits for approval. */
  #checkNotProposed(name: string): void {
    const pending = pendingSection(this.#pendingEdits(name), 'the workspace');
    if (pending !== undefined) throw new CallError(`There is no file ${visibleName(name)} yet. ${pending}`);
  }

  /** Returns the buffer of the file whose path ends with the file name NAME. Throws a CallError when there is no such
   * file, or when there are several. NEW_FILE is the path to which NAME resolves; no file exists at this path. */
  async #findByFileName(name: string, newFile: string, unsaved: Unsaved): Promise<NamedBuffer> {
    const { paths, budget } = await this.#files(unsaved);
    const [only, ...others] = paths.filter((path) => basename(path) === name);
    if (only !== undefined && others.length > 0)
      throw new CallError(this.#severalText(name, [only, ...others]));
    // `entries` is the number of those that may still be read.
    const note = budget.exceeded
      ? `Only the first ${FIND_ENTRIES - budget.entries} entries of the workspace were searched for this name.`
      : undefined;
    if (only !== undefined) return this.#noted(only, only, unsaved, note);
    const inEditors = [neverSavedText(newFile, unsaved), silentSentence(unsaved)];
    throw new CallError(joinedSentences(this.#unknownText(name, paths), note, ...inEditors));
  }

  /** Returns the buffer of the file REAL, a real path. PATH leads to the file. The note of the buffer has SEARCH_NOTE
   * and, if UNSAVED has the file or names an editor that did not answer, says which text the buffer has. */
  #noted(real: string, path: string, unsaved: Unsaved, searchNote?: string): NamedBuffer {
    const buffer = this.#buffer(real, path, unsaved);
    const lacksChangesIn = buffer.isUnsavedText ? undefined : (buffer.unsavedIn ?? unsaved.silent);
    const notes = [searchNote, textNote(buffer, unsaved)].filter((each) => each !== undefined);
    return {
      ...buffer,
      ...(lacksChangesIn !== undefined && { lacksChangesIn }),
      ...(notes.length > 0 && { note: notes.join(' ') }),
    };
  }

  /** Resolves with the files in all of FOLDERS that have unsaved changes, and with an editor that did not answer. */
  async #unsavedBelowAll(folders: readonly string[]): Promise<Unsaved> {
    const perFolder = await Promise.all(folders.map((folder) => this.#workspace.unsavedBelow(folder)));
    const silent = perFolder.find((unsaved) => unsaved.silent !== undefined)?.silent;
    return { files: perFolder.flatMap(({ files }) => files), ...(silent !== undefined && { silent }) };
  }

  /** Returns true when FILE, a real path, does not exist on the disk, but UNSAVED contains a text of it. */
  async #isOnlyUnsaved(file: string, { files }: Unsaved): Promise<boolean> {
    if (!files.some((unsaved) => unsaved.file === file && unsaved.octets !== undefined)) return false;
    const located = await this.#workspace.locate(file, 'read').catch(() => undefined);
    return located !== undefined && located.missing.length > 0;
  }

  /** Returns the files in UNSAVED that are in FOLDERS and do not exist on the disk. Leaves out files that searches
   * skip. */
  async #onlyUnsaved(folders: readonly string[], unsaved: Unsaved): Promise<string[]> {
    const found: string[] = [];
    for (const file of new Set(unsaved.files.map(({ file }) => file))) {
      if (folders.every((folder) => isSkippedBelow(folder, file))) continue;
      if (await this.#isOnlyUnsaved(file, unsaved)) found.push(file);
    }
    return found;
  }

  /** Throws a CallError with similar names when PATH does not exist. */
  async confirmExists(path: string): Promise<void> {
    const { real, missing } = await this.#workspace.locate(path, 'read');
    if (missing.length === 0) return;
    const newFile = join(real, ...missing);
    const unsaved = await this.#workspace.unsavedBelow(newFile);
    // If the workspace has no roots, `#files` throws. Then the message names no similar files.
    const listing = await this.#files(NOTHING_UNSAVED).catch(() => undefined);
    const similar = listing && this.#similarText(path, listing.paths);
    const { message } = this.#workspace.noFile(path);
    throw new CallError(
      joinedSentences(message, neverSavedText(newFile, unsaved) ?? similar, silentSentence(unsaved)),
    );
  }

  /** Returns the files of the workspace, and those in UNSAVED that do not exist on the disk. */
  async #files(unsaved: Unsaved): Promise<{ paths: string[]; budget: Budget }> {
    const budget = budgetOf(FIND_ENTRIES, FIND_MS);
    const paths: string[] = [];
    const roots = this.#workspace.rootFolders();
    for await (const path of filesBelow(this.#workspace, roots, budget)) paths.push(path);
    return { paths: [...paths, ...(await this.#onlyUnsaved(roots, unsaved))], budget };
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

  /** Returns the files in FOLDER, or in the whole workspace if FOLDER is undefined, with their texts on the disk. Stops
   * when BUDGET is used up. Returns undefined when FOLDER does not exist. */
  async below(folder: string | undefined, budget: Budget): Promise<AsyncIterable<TextBuffer> | undefined> {
    const folders = await this.#foldersAt(folder);
    return folders && this.#buffersIn(folders, budget, NOTHING_UNSAVED);
  }

  /** Like `below`, but a file that has an unsaved text in an editor is returned with that text. `silent` is the name of
   * an editor that did not answer which unsaved texts it has. */
  async belowAsEdited(
    folder: string | undefined,
    budget: Budget,
  ): Promise<{ buffers: AsyncIterable<TextBuffer>; silent?: string } | undefined> {
    const folders = await this.#foldersAt(folder);
    if (folders === undefined) return undefined;
    const unsaved = await this.#unsavedBelowAll(folders);
    const { silent } = unsaved;
    return {
      buffers: this.#buffersIn(folders, budget, unsaved),
      ...(silent !== undefined && { silent }),
    };
  }

  /** Returns the real path of FOLDER in an array; without FOLDER, those of all roots. Returns undefined when FOLDER
   * does not exist. */
  async #foldersAt(folder: string | undefined): Promise<readonly string[] | undefined> {
    if (folder === undefined) return this.#workspace.rootFolders();
    const { real, missing } = await this.#workspace.locate(folder, 'read');
    // The directory may have disappeared in the meantime.
    const stats =
      missing.length === 0
        ? await withFileTimeout(real, () => lstat(real)).catch(() => undefined)
        : undefined;
    return stats?.isDirectory() ? [real] : undefined;
  }

  async *#buffersIn(
    folders: readonly string[],
    budget: Budget,
    unsaved: Unsaved,
  ): AsyncGenerator<TextBuffer> {
    for await (const path of filesBelow(this.#workspace, folders, budget))
      yield this.#buffer(path, path, unsaved);
    if (budget.exceeded) return;
    for (const file of await this.#onlyUnsaved(folders, unsaved)) yield this.#buffer(file, file, unsaved);
  }

  #buffer(real: string, path: string, { files }: Unsaved): TextBuffer {
    const name = this.#workspace.name(real);
    const pending = this.#pendingEdits(name);
    const { editor, octets } = files.find(({ file }) => file === real) ?? {};
    const buffer = { name, pending, ...(editor !== undefined && { unsavedIn: editor }) };
    if (octets !== undefined)
      return { ...buffer, isUnsavedText: true, read: async (first) => linesIn(octets, first) };
    return {
      ...buffer,
      read: (first, signal) => this.#workspace.read(path, (file) => readLines(file, first, signal)),
    };
  }
}

/** Returns a sentence that says whether a buffer has an unsaved text or the text on the disk; undefined when no editor
 * has unsaved changes of the file. */
function textNote({ unsavedIn, isUnsavedText }: TextBuffer, { silent }: Unsaved): string | undefined {
  if (isUnsavedText) return `This is the unsaved text in ${unsavedIn}, not that on the disk.`;
  if (unsavedIn !== undefined) return `It has unsaved changes in ${unsavedIn}; this is the text on the disk.`;
  return silent && `${silentText(silent)}; this is the text on the disk.`;
}

/** Returns a sentence about FILE, a real path that does not exist on the disk, if an editor has a text of it; else
 * undefined. */
function neverSavedText(file: string, { files }: Unsaved): string | undefined {
  const own = files.find((unsaved) => unsaved.file === file);
  if (own === undefined) return undefined;
  return own.octets === undefined
    ? `It was never saved in ${own.editor}, which did not send its text. Ask the user to save it.`
    : `It was never saved in ${own.editor}; read_buffer shows the text there.`;
}

function joinedSentences(...sentences: (string | undefined)[]): string {
  return sentences.filter(Boolean).join(' ');
}
