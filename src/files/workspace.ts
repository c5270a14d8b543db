// Decides which files the tools may read and write: those in the roots of the workspace, after all links are resolved.

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { CallError } from '../errors.ts';
import { isInside, realPath } from '../paths.ts';
import { visibleName } from '../visible.ts';
import { findLocalFolders, realPathOf, UnreadableFile, withFileTimeout } from './answering.ts';
import { fileFailure } from './failure.ts';
import { Folder, type OpenFile } from './folder.ts';
import {
  type Access,
  checkKind,
  checkSyntax,
  firstFolder,
  kindError,
  type NamedFolders,
  noRootsText,
  onlyReadText,
  outsideText,
} from './path-refusals.ts';
import { isSystemFile } from './regular.ts';
import type { FileEditors, Unsaved } from './unsaved.ts';

interface Location {
  /** The real path of the part of the path that exists. */
  real: string;
  /** The names that follow this part, and do not exist. */
  missing: string[];
}

interface WorkspaceFolders {
  /** Directories in which tools may read and write. Relative paths start in the first one. */
  roots: readonly string[];
  /** The base directory of relative paths when there are no roots. */
  start?: string;
  readRoots?: readonly string[];
  /** Returns the real paths of further directories that tools may read. It is called only for paths outside all
   * roots. */
  sources?: () => Promise<string[]>;
  /** Returns true when the sandbox hides the file `real` from the image. */
  hides?: (real: string) => boolean;
  /** Resolves as soon as `hides` returns correct results. */
  secretsKnown?: Promise<void>;
  /** The name of an image on another machine. Tools name a file on that machine `NAME:PATH`, with this name. */
  elsewhere?: string | undefined;
  editors?: FileEditors;
  /** `last` is a promise for the end of the latest change of a file. The next change waits for it. Workspaces with the
   * same files share this object, so that they do not change files at the same time. */
  changes?: { last: Promise<unknown> };
}

/** Number of milliseconds for which a result of `sources` is kept, because a search needs it once for each file. */
const SOURCES_MS = 2000;

const HIDDEN = 'the sandbox hides it from the image';

export class Workspace {
  readonly #named: NamedFolders;
  readonly #realRoots: readonly string[];
  readonly #realReadRoots: readonly string[];
  readonly #findSources: (() => Promise<string[]>) | undefined;
  readonly #hides: (real: string) => boolean;
  readonly #editors: FileEditors | undefined;
  readonly secretsKnown: Promise<void>;
  readonly #elsewhere: string | undefined;
  #sources: { folders: readonly string[]; until: number } = { folders: [], until: 0 };
  readonly #changes: { last: Promise<unknown> };

  constructor(folders: WorkspaceFolders) {
    const { roots, start = '.', readRoots = [], sources, hides = () => false } = folders;
    this.secretsKnown = folders.secretsKnown ?? Promise.resolve();
    this.#named = {
      roots: roots.map((root) => resolve(root)),
      readRoots: readRoots.map((root) => resolve(root)),
      start: resolve(start),
      readsSources: sources !== undefined,
    };
    this.#realRoots = this.#named.roots.map(realPath);
    this.#realReadRoots = this.#named.readRoots.map(realPath);
    this.#findSources = sources;
    this.#hides = hides;
    this.#elsewhere = folders.elsewhere;
    this.#editors = folders.editors;
    this.#changes = folders.changes ?? { last: Promise.resolve() };
  }

  get root(): string {
    return firstFolder(this.#named);
  }

  get realRoots(): readonly string[] {
    return this.#realRoots;
  }

  /** Returns the real paths of the roots. Throws a CallError when there are no roots. */
  rootFolders(): readonly string[] {
    if (this.#realRoots.length > 0) return this.#realRoots;
    throw new CallError(`There is no workspace to search. ${noRootsText(this.#named)}`);
  }

  /** Returns REAL, a real path, as messages show it: relative to the first root if it is inside this root. */
  name(real: string): string {
    const [root] = this.#realRoots;
    return root !== undefined && isInside(root, real) ? relative(root, real) || '.' : real;
  }

  /** Returns the real location of PATH. Throws a CallError when ACCESS to it is not allowed. */
  async locate(path: string, access: Access): Promise<Location> {
    checkSyntax(path, this.root);
    this.checkHere(path);
    // On a local disk, the file operations below have no timeout.
    await findLocalFolders([resolve(this.root, path)]);
    const { link, error, ...location } = await existingPart(resolve(this.root, path)).catch(
      (failure: unknown) => {
        throw fileFailure(failure, path, access === 'read' ? 'read' : 'written');
      },
    );
    // The errors below tell what exists at PATH, so they come after the check.
    await this.check(location.real, access, path);
    if (link !== undefined) {
      throw new CallError(
        `Path ${visibleName(path)} goes through the link ${visibleName(this.name(link))}, whose target does not exist.`,
      );
    }
    if (error !== undefined) throw fileFailure(error, path, access === 'read' ? 'read' : 'written');
    return location;
  }

  /** Throws a CallError when PATH names a file on the other machine where the image runs. */
  checkHere(path: string): void {
    const image = this.#elsewhere;
    if (image === undefined || !path.startsWith(`${image}:/`)) return;
    throw new CallError(
      `File tools cannot reach ${visibleName(path)}, a file on the machine of the image ${image}. eval_form can read and load it there. To edit it here, ask the user to start the server with --map ${image}:LOCAL=REMOTE, where LOCAL is a folder here and REMOTE the same one there.`,
    );
  }

  /** Throws a CallError when ACCESS to REAL, the real path of PATH, is not allowed. */
  async check(real: string, access: Access, path: string): Promise<void> {
    await this.#checkRoots(real, access, path);
    await this.secretsKnown;
    if (this.#hides(real)) throw this.#forbidden(HIDDEN, real, access, path);
  }

  /** Throws a CallError when REAL is in no folder that allows ACCESS. */
  async #checkRoots(real: string, access: Access, path: string): Promise<void> {
    if (this.#isInRoot(real)) return;
    if (!(await this.#isReadOnly(real))) throw new CallError(outsideText(path, access, this.#named));
    if (access === 'write') throw new CallError(onlyReadText(path, this.#named));
  }

  #isInRoot(real: string): boolean {
    return this.#realRoots.some((root) => isInside(root, real));
  }

  /** Throws a CallError when tools may not read the file REAL, the real path of PATH (see `forbids`). */
  async checkReadable(real: string, path: string): Promise<void> {
    await this.secretsKnown;
    const why = this.forbids(real);
    if (why !== undefined) throw this.#forbidden(why, real, 'read', path);
  }

  #forbidden(why: string, real: string, access: Access, path: string): CallError {
    const remedy = this.#isInRoot(real)
      ? 'Do without it, or ask the user to do this.'
      : 'Put a copy into the workspace.';
    const done = access === 'read' ? 'read' : 'written';
    return new CallError(`${visibleName(path)} is not ${done}: ${why}. ${remedy}`);
  }

  /** Returns the reason, as a clause, why tools may not read the file with the real path REAL; undefined when they may.
   * REAL can be from the image: sandboxed code can have made it up, to learn from the answer of a tool about files that
   * the sandbox hides. */
  forbids(real: string): string | undefined {
    const named = [...this.#realRoots, ...this.#realReadRoots].filter((root) => isInside(root, real));
    if (isSystemFile(real) && !named.some(isSystemFile)) return 'it is in /proc, /sys or /dev, not on a disk';
    if (this.#hides(real)) return HIDDEN;
    return undefined;
  }

  async contains(file: string): Promise<boolean> {
    return this.#isInRoot(await realPathOf(file));
  }

  /** Returns true when tools may read REAL but not write to it, because it is in a read root or among the sources of a
   * loaded system. */
  async #isReadOnly(real: string): Promise<boolean> {
    const isInOne = (folders: readonly string[]) => folders.some((root) => isInside(root, real));
    if (isInOne(this.#realReadRoots)) return true;
    if (performance.now() < this.#sources.until && isInOne(this.#sources.folders)) return true;
    const folders = (await this.#findSources?.()) ?? [];
    this.#sources = { folders, until: performance.now() + SOURCES_MS };
    return isInOne(folders);
  }

  /** Opens the file PATH for reading, and calls USE with the open file and its name for messages. */
  async read<Value>(path: string, use: (file: OpenFile, name: string) => Promise<Value>): Promise<Value> {
    const { real, missing } = await this.locate(path, 'read');
    if (missing.length > 0) throw this.noFile(path);
    try {
      return await this.#readAt(real, path, use);
    } catch (error) {
      throw fileFailure(error, path, 'read');
    }
  }

  async #readAt<Value>(
    real: string,
    path: string,
    use: (file: OpenFile, name: string) => Promise<Value>,
  ): Promise<Value> {
    checkKind(path, await withFileTimeout(dirname(real), () => lstat(real)));
    const folder = await Folder.open(dirname(real));
    try {
      // This checks the path of the opened folder and not REAL. While `locate` waited for the image, code in the image
      // can have replaced a folder of REAL by a link.
      const opened = join(folder.path, basename(real));
      await this.#checkRoots(opened, 'read', path);
      await this.checkReadable(opened, path);
      const file = await folder.openFile(basename(real));
      if (file === undefined) throw this.noFile(path);
      if (!('handle' in file)) throw kindError(path, file.stats);
      try {
        return await use(file, this.name(opened));
      } finally {
        await file.handle.close();
      }
    } finally {
      await folder.close();
    }
  }

  /** Runs CHANGE when no other change is running. Otherwise another change could come between the last check of a file
   * and its rename. */
  async exclusively<Value>(change: () => Promise<Value>): Promise<Value> {
    const result = this.#changes.last.then(change);
    this.#changes.last = result.catch(() => {});
    return result;
  }

  /** Resolves with the name of an editor in which the file REAL has unsaved changes; undefined when there is none. */
  async unsavedIn(real: string): Promise<string | undefined> {
    return this.#editors?.unsavedIn(real);
  }

  /** Asks the editors for unsaved files. Resolves with REAL, a file, or with the files in REAL, a folder. Leaves out
   * files that code must not read. With NAMES, the result has no contents. */
  async unsavedBelow(real: string, names?: 'names'): Promise<Unsaved> {
    const unsaved = (await this.#editors?.unsavedBelow(real, names)) ?? { files: [] };
    await this.secretsKnown;
    const isReadable = (file: string) => isInside(real, file) && this.forbids(file) === undefined;
    return { ...unsaved, files: unsaved.files.filter(({ file }) => isReadable(file)) };
  }

  /** Throws a CallError when the file REAL, the real path of PATH, has unsaved changes in an editor. */
  async checkSaved(real: string, path: string): Promise<void> {
    const editor = await this.unsavedIn(real);
    if (editor === undefined) return;
    throw new CallError(
      `${visibleName(path)} has unsaved changes in ${editor}, so nothing was written. Ask the user to save or revert it there, then read it again and call again.`,
    );
  }

  noteChanged(real: string): void {
    this.#editors?.changed(real);
  }

  noFile(path: string): CallError {
    return new CallError(`There is no file ${visibleName(path)}. Relative paths start at ${this.root}.`);
  }
}

/** Returns the real path of the part of PATH that exists, and the names that follow it. `link` is a link in PATH that
 * has no target. `error` is an error of the file system, if there was one, other than that a part does not exist. */
async function existingPart(path: string): Promise<Location & { link?: string; error?: unknown }> {
  const missing: string[] = [];
  const found: { link?: string; error?: unknown } = {};
  for (let at = path; ; at = dirname(at)) {
    try {
      return { real: await withFileTimeout(dirname(at), () => realpath(at)), missing, ...found };
    } catch (error) {
      if (error instanceof UnreadableFile) throw error;
      const absent = error instanceof Error && 'code' in error && ABSENT.includes(String(error.code));
      if (!absent) found.error = error;
      const stats = await withFileTimeout(dirname(at), () => lstat(at)).catch(() => undefined);
      if (stats?.isSymbolicLink()) found.link = at;
      missing.unshift(basename(at));
    }
  }
}

/** Error codes of a path that does not exist. ELOOP: a link leads to itself; existingPart then returns it as `link`. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP'];
