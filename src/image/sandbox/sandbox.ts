// Selects the files of the system that an image in the sandbox can see, and those that it can change.

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { checkAnswering, orSetupError, withFileTimeout } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { noteUse, removeUnusedFolders } from '../../leftovers.ts';
import { isInside, realPath, recordsFolder } from '../../paths.ts';
import { cacheUsable, outputTranslations } from '../process/backend.ts';
import type { CommandSandbox, ProcessCommand } from '../process/command.ts';
import {
  findBubblewrap,
  missingBubblewrap,
  type Obstacle,
  obstacleAsync,
  obstacleOf,
  unknownProcessor,
} from './bubblewrap.ts';
import {
  existingFolders,
  innermostPathLength,
  isIn,
  type Mounts,
  mountArguments,
  outermost,
  pinned,
  readOnlyMounts,
  serviceFolders,
  temporaryFolders,
} from './mounts.ts';
import { NewFileWatcher } from './newcomers.ts';
import { Placeholders } from './placeholders.ts';
import {
  existingPaths,
  FORBIDDEN_FOLDERS,
  protectedPaths,
  REPORTED_FILES,
  repositoryPaths,
} from './protected.ts';
import { secretPaths } from './secrets.ts';
import { filterFile, systemCallFilter } from './system-calls.ts';

interface SandboxOptions {
  /** The working directory of the image. */
  root: string;
  /** The roots of the workspace. Code in the image can write in them. */
  roots: readonly string[];
  /** Further folders in which code can write, because the user allows it. */
  write: readonly string[];
  /** The folders in which a library manager installs libraries. Code can write in them too. */
  libraries: readonly string[];
  /** Paths, such as that of the cache, that code can see even inside hidden folders. */
  needed: readonly string[];
  /** Paths of programs and records that are used outside the sandbox. They are read-only even inside folders in which
   * code can write. */
  trusted: readonly string[];
  cacheFolder: string;
  /** The folder in which the server stores data between its runs. */
  stateFolder: string;
  /** Paths of further secrets, which are hidden like those in the home. */
  secrets: readonly string[];
  home: string;
  /** True for an image without network, and with temporary files of its own. */
  strict: boolean;
}

/** The arguments of bubblewrap for every sandbox. It has namespaces of its own, and no capabilities even if the user
 * has some. Code in it cannot create a user namespace, in which it could mount control groups. It ends with its parent
 * process. Everything is mounted read-only, even the kernel's settings in /proc, which root could otherwise write
 * without capabilities. */
const BASE_FLAGS = (
  '--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--new-session --die-with-parent --ro-bind / / --proc /proc --remount-ro /proc --dev /dev'
).split(' ');

/** A shell script that opens the filter file, $0, as descriptor 9, and then runs bubblewrap. The script is necessary,
 * because Node closes all descriptors in a child except those that the caller of `spawn` lists. */
const WITH_FILTER = 'exec "$@" 9<"$0"';

/** A shell script that exits with code 9 (CANNOT_WRITE) when one of the folders in its arguments cannot be written. */
const TRIAL = 'for folder; do test -w "$folder" || exit 9; done';

/** Environment variables for services that act for the user outside the sandbox. The sandbox hides these services, so
 * an image does not get the variables. */
const WITHHELD = ['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

const SHARED_MEMORY = '/dev/shm';

export class Sandbox implements CommandSandbox {
  readonly #options: SandboxOptions;
  // The paths in the following fields are real paths. They are resolved before an image could replace a link in one of
  // them.
  /** The folders of the options `roots` and `write`. */
  readonly #workspace: readonly string[];
  /** The existing folders of the option `libraries`. */
  readonly #libraries: readonly string[];
  /** The folders of temporary files that other programs share, such as /tmp; empty with `--sandbox strict`. */
  readonly #temporary: readonly string[];
  /** The folders that code can change: roots, `write`, libraries and temporary files. Folders inside others are left
   * out. */
  readonly #areas: readonly string[];
  /** Folders that are hidden from images, in addition to #secrets. */
  readonly #hidden: readonly string[];
  /** Paths that can be seen even inside hidden folders and secrets. Hidden folders inside these paths are still
   * hidden. */
  readonly #shown: readonly string[];
  readonly #placeholders: Placeholders;
  readonly #newFiles = new NewFileWatcher();
  /** The real paths of the secrets that existed when `findSecrets` was last called. It is called at each start of an
   * image and, before the first one, at the start of the server. */
  #secrets: readonly string[] = [];
  /** True once `noteUse` was called for the folder of #ownCache. It then notes the use each day by itself. */
  #notesUse = false;

  constructor(options: SandboxOptions) {
    const { roots, write, libraries, needed, strict, stateFolder, cacheFolder } = options;
    this.#options = options;
    this.#temporary = strict ? [] : temporaryFolders();
    this.#libraries = existingFolders(libraries);
    this.#areas = outermost([...roots, ...write, ...this.#libraries, ...this.#temporary]);
    // A folder is left out if its path leads through a link in another of these folders. Code that can write there
    // could change the link.
    const named = [...new Set([...roots, ...write].map(realPath))];
    this.#workspace = named.filter((folder) => isIn(this.#areas, folder));
    this.#hidden = [
      ...serviceFolders(),
      SHARED_MEMORY,
      ...(strict ? existingFolders([...temporaryFolders(), '/var/tmp']) : []),
    ];
    this.#shown = [...this.#workspace, ...this.#areas, ...[...needed, cacheFolder].map(realPath)];
    this.#placeholders = new Placeholders(join(stateFolder, 'placeholders'));
  }

  get writable(): readonly string[] {
    return [...new Set([...this.#workspace, ...this.#areas])];
  }

  get strict(): boolean {
    return this.#options.strict;
  }

  /** Returns the new files in the workspace, since the previous call, from which programs outside the sandbox read
   * settings or commands. */
  takeNewFiles(): string[] {
    return this.#newFiles.take();
  }

  /** Tests in the sandbox whether its folders can be written. Returns the obstacle; undefined when there is none.
   * Blocks until the test has ended, so it must be called only at the start of the server. */
  obstacle(): Obstacle | undefined {
    const trial = this.#trial();
    return 'why' in trial ? trial : obstacleOf(trial);
  }

  /** Like obstacle, but does not block the main thread. Throws a SetupError when a file system does not answer. */
  async obstacleAsync(): Promise<Obstacle | undefined> {
    await checkAnswering(this.#optionPaths);
    const trial = this.#trial();
    return 'why' in trial ? trial : obstacleAsync(trial);
  }

  async check(): Promise<void> {
    const obstacle = await this.obstacleAsync();
    if (obstacle !== undefined) throw refusalOf(obstacle);
  }

  #trial(): ProcessCommand | Obstacle {
    if (systemCallFilter() === undefined) return unknownProcessor();
    if (this.#bubblewrap() === undefined) return missingBubblewrap();
    const folders = this.#options.roots.map(realPath);
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` };
    const command = { program: 'sh', args: ['-c', TRIAL, 'sh', ...folders], env };
    return this.#lockIn(
      command,
      this.#areas.map((area) => ['changed', area]),
    );
  }

  async lockInCompiler(command: ProcessCommand): Promise<ProcessCommand> {
    await checkAnswering([...this.#optionPaths, dirname(command.program)]);
    // The workspace is empty in this sandbox. So no file that an image has written can become part of the backend,
    // which other images will load.
    const empty = existingFolders([...this.#areas, ...temporaryFolders(), '/var/tmp']);
    const mounts: Mounts = [
      ...[...empty, realPath(this.#options.root)].map((folder) => ['empty', folder] as const),
      ...this.#neededMounts(command.program, empty),
      ['changed', realPath(this.#options.cacheFolder)],
    ];
    return this.#lockIn(command, mounts, ['--unshare-net']);
  }

  async lockIn(command: ProcessCommand, fasls?: string, root?: string): Promise<ProcessCommand> {
    const { strict } = this.#options;
    await checkAnswering([...this.#optionPaths, dirname(command.program)]);
    const imageMounts = await orSetupError(() => this.#imageMounts());
    const cache = fasls === undefined ? this.#ownCache() : realPath(fasls);
    const place = cache ?? join(tmpdir(), 'cache');
    const env = {
      ...command.env,
      XDG_CACHE_HOME: place,
      ASDF_OUTPUT_TRANSLATIONS: outputTranslations(place),
    };
    const empty = strict ? existingFolders([...temporaryFolders(), '/var/tmp']) : [];
    const mounts: Mounts = [
      ...empty.map((folder) => ['empty', folder] as const),
      ...this.#neededMounts(command.program, [...empty, ...this.#secrets]),
      ...imageMounts,
      ...(cache === undefined ? [] : [['changed', cache] as const]),
    ];
    const inEmpty = empty.length === 0 ? [] : ['--dir', realPath(tmpdir()), ...this.#links(empty)];
    const more = [...inEmpty, ...(strict ? ['--unshare-net'] : [])];
    return this.#lockIn({ ...command, env }, mounts, more, root);
  }

  /** All paths in the options. A caller first checks that their file systems answer, and can then use the paths without
   * a timeout. */
  get #optionPaths(): string[] {
    const { root, roots, write, libraries, needed, trusted, cacheFolder, stateFolder, secrets, home } =
      this.#options;
    const listed = [...roots, ...write, ...libraries, ...needed, ...trusted, ...secrets];
    return [root, ...listed, cacheFolder, stateFolder, home];
  }

  /** Finds the secrets, and records them for `hides`. Throws an UnresponsiveFolderError when a file system does not
   * answer. */
  async findSecrets(): Promise<void> {
    const { home, secrets } = this.#options;
    this.#secrets = [...(await secretPaths(home)), ...(await existingPaths(secrets))];
  }

  /** Finds the secrets that must be hidden, and creates placeholders for the folders that code must not create. Returns
   * three kinds of mounts: those of the folders that code can write, read-only mounts inside these, and mounts that
   * hide secrets. Throws an UnresponsiveFolderError when a file system does not answer. */
  async #imageMounts(): Promise<Mounts> {
    const { home, libraries, trusted, cacheFolder } = this.#options;
    await this.findSecrets();
    await this.#placeholders.occupy(
      this.#workspace.flatMap((root) => FORBIDDEN_FOLDERS.map((name) => join(root, name))),
    );
    for (const root of this.#workspace) await this.#newFiles.watch(root, REPORTED_FILES);
    const records = await this.#occupiedRecords();
    const own = [...this.#workspace, ...this.#libraries];
    // If the home is inside a folder for temporary files, it is read-only, because nothing in a home is temporary.
    const sealed = isIn(this.#temporary, realPath(home)) ? [realPath(home)] : [];
    const isUnsealed = (path: string) => isIn(own, path) || !isIn(sealed, path);
    const readOnly = await existingPaths([...trusted, ...records, cacheFolder]);
    for (const root of this.#workspace) readOnly.push(...(await protectedPaths(root)));
    for (const folder of libraries) readOnly.push(...(await repositoryPaths(folder)));
    // A path can be inside a secret, such as the repository of a password store. It is skipped, because its mount would
    // make it visible.
    const visible = readOnly.filter((path) => !this.hides(path));
    const secrets = this.#secrets.filter((path) => this.hides(path) && !this.#covers(this.#hidden, path));
    // Code must not be able to rename a folder that contains a secret, because nothing would hide the secret at its new
    // path.
    const held = secrets.filter((path) => ![...own, ...this.#areas].some((area) => isInside(path, area)));
    return [
      ...this.#areas.map((area) => ['changed', area] as const),
      ...readOnlyMounts(sealed, this.#temporary),
      ...own.filter((path) => !isIn(sealed, path)).flatMap((path) => pinned(path, this.#temporary)),
      ...own.map((path) => ['changed', path] as const),
      ...readOnlyMounts([...visible, ...held].filter(isUnsealed), [...own, ...this.#temporary]),
      // The secrets come last, because the last mount of a path counts. A secret can also be a file that programs obey,
      // or a folder that contains one.
      ...secrets.map((path) => ['hidden', path] as const),
    ];
  }

  /** Creates the folders for the records of servers that cannot write in the home. Otherwise sandboxed code could
   * create them. Returns their paths. They are never removed, because other servers may use them too. */
  async #occupiedRecords(): Promise<string[]> {
    if (this.#temporary.length === 0) return [];
    const folders = [...new Set(['/tmp', tmpdir()].map((folder) => recordsFolder(realPath(folder))))];
    for (const folder of folders) {
      await withFileTimeout(dirname(folder), () => mkdir(folder, 0o700).catch(() => {}));
    }
    return folders;
  }

  /** Returns true when the sandbox hides the file REAL, a real path, from an image. */
  hides(real: string): boolean {
    return this.#covers([...this.#hidden, ...this.#secrets], real);
  }

  /** Returns true when one of FOLDERS, the hidden folders, hides the file REAL, a real path. Among FOLDERS and the
   * folders in #shown, the innermost one that contains REAL decides. */
  #covers(folders: readonly string[], real: string): boolean {
    return innermostPathLength(folders, real) > innermostPathLength(this.#shown, real);
  }

  /** Returns the path of the bwrap to run; undefined when there is none. A bwrap in a folder that an image can change
   * is ignored, because an image could have put it there. */
  #bubblewrap(): string | undefined {
    return findBubblewrap(this.#areas);
  }

  /** Returns the folder of compiled files for images that have the same writable folders and the same network access.
   * Returns undefined when it cannot be used. Sandboxed code can put anything there, so no other image may load from
   * it. */
  #ownCache(): string | undefined {
    const { cacheFolder, strict } = this.#options;
    const abilities = JSON.stringify([this.#workspace, strict]);
    const digest = digestOf(abilities).slice(0, 16);
    const all = join(cacheFolder, 'sandboxes');
    const folder = join(all, digest);
    const isNew = !existsSync(folder);
    if (!cacheUsable(folder)) return undefined;
    if (!this.#notesUse) noteUse(folder);
    this.#notesUse = true;
    if (isNew) void removeUnusedFolders(all);
    return realPath(folder);
  }

  #lockIn(
    command: ProcessCommand,
    mounts: Mounts,
    more: readonly string[] = [],
    root = this.#options.root,
  ): ProcessCommand {
    const program = this.#bubblewrap();
    if (program === undefined) throw refusalOf(missingBubblewrap());
    const filter = filterFile(this.#options.cacheFolder);
    const system: Mounts = [
      ...serviceFolders().map((folder) => ['empty', folder] as const),
      ['empty', SHARED_MEMORY],
      ...this.#neededMounts(command.program, serviceFolders()),
    ];
    const start = ['--chdir', realPath(root), '--', command.program, ...command.args];
    const env: NodeJS.ProcessEnv = { ...command.env, TMPDIR: tmpdir() };
    for (const name of WITHHELD) delete env[name];
    const flags = [...BASE_FLAGS, '--seccomp', '9', ...mountArguments([...system, ...mounts]), ...more];
    return {
      program: '/bin/sh',
      args: ['-c', WITH_FILTER, filter, program, ...flags, ...start],
      env,
      encodesSignals: true,
    };
  }

  /** Returns read-only mounts of the files inside FOLDERS that are necessary to run SBCL, the path of a program, and an
   * image. The sandbox shows no other files inside FOLDERS. */
  #neededMounts(sbcl: string, folders: readonly string[]): Mounts {
    const { needed, cacheFolder, strict } = this.#options;
    const lisp = [sbcl, join(dirname(sbcl), '..', 'lib', 'sbcl'), process.env['SBCL_HOME'] ?? sbcl];
    // The first path contains the programs of NixOS. The second path is often a link into a folder of services, without
    // which code could resolve no host names.
    const system = ['/run/current-system', ...(strict ? [] : [realPath('/etc/resolv.conf')])];
    return [...needed, cacheFolder, ...lisp, ...system]
      .filter((path) => existsSync(path) && isIn(folders, realPath(path)))
      .map((path) => ['read', realPath(path)] as const);
  }

  /** Returns the arguments with which bubblewrap creates again the symbolic links that the user named as roots. The
   * sandbox shows the folders EMPTY without their contents, so links in them are missing. */
  #links(empty: readonly string[]): string[] {
    return this.#options.roots
      .filter((root) => realPath(root) !== root && isIn(empty, realPath(dirname(root))))
      .filter((root) => !isIn(this.#areas, realPath(dirname(root))))
      .flatMap((link) => ['--symlink', realPath(link), link]);
  }
}

/** Returns an error with advice, which says that an obstacle prevents the start of an image. */
export function refusalOf({ why, remedy }: Obstacle): SetupError {
  return new SetupError(
    `The sandbox does not work here, so no Lisp image is started: ${why}. ${remedy} Or ask the user to start the server with --no-sandbox, preferably in a container or as another user.`,
  );
}
