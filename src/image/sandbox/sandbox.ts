// Decides which files of the system an image in the sandbox sees, and which of them it can change.

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { checkAnswering, orSetupError, withFileTimeout } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { isInside, realPath, recordsFolder } from '../../paths.ts';
import { cacheUsable, outputTranslations } from '../process/agent.ts';
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
  /** Working directory of the image. */
  root: string;
  /** The roots of the workspace, writable for code. */
  roots: readonly string[];
  /** Other folders that the user makes writable for code. */
  write: readonly string[];
  /** Folders of a library manager's libraries. Code can write in them too. */
  libraries: readonly string[];
  /** Paths that are visible even inside hidden folders, such as the cache. */
  needed: readonly string[];
  /** Paths of programs and records for use outside the sandbox. They are read-only even inside writable
   *  folders. */
  trusted: readonly string[];
  cacheFolder: string;
  /** Folder for the server's data between its runs. */
  stateFolder: string;
  /** Paths to hide like the secrets in the home. */
  secrets: readonly string[];
  home: string;
  /** True for an image without network and with separate temporary files. */
  strict: boolean;
}

/** bubblewrap's arguments for every sandbox. It has its own namespaces, and no capabilities even if the user
 *  has some. Code in it can create no user namespace, in which it could mount control groups. It ends with
 *  its parent process. Everything is mounted read-only, also the kernel's settings in /proc, which root could
 *  otherwise write without capabilities. */
const BASE_FLAGS = (
  '--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--new-session --die-with-parent --ro-bind / / --proc /proc --remount-ro /proc --dev /dev'
).split(' ');

/** A shell script that opens the filter file, $0, as descriptor 9 for bubblewrap, and then runs bubblewrap.
 *  Node passes a child only the descriptors that the caller of spawn lists, so a script must open it. */
const WITH_FILTER = 'exec "$@" 9<"$0"';

/** A shell script that exits with code 9 (CANNOT_WRITE) when one of the folders in its arguments is not
 *  writable. */
const TRIAL = 'for folder; do test -w "$folder" || exit 9; done';

/** Environment variables of services that act for the user outside the sandbox. The sandbox hides the
 *  services, so an image does not get the variables. */
const WITHHELD = ['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

const SHARED_MEMORY = '/dev/shm';

export class Sandbox implements CommandSandbox {
  readonly #options: SandboxOptions;
  // All paths in the following fields are real paths, resolved before any image could replace a link on the
  // way to them.
  /** The roots and the folders of `write`. */
  readonly #workspace: readonly string[];
  /** The existing folders of `libraries`. */
  readonly #libraries: readonly string[];
  /** Shared temporary folders such as /tmp; empty with `--sandbox strict`. */
  readonly #temporary: readonly string[];
  /** The outermost of the folders that code can change: roots, `write`, libraries and temporary files. */
  readonly #areas: readonly string[];
  /** Folders that are hidden from images, apart from #secrets. */
  readonly #hidden: readonly string[];
  /** Paths that are visible even inside hidden folders and secrets. Hidden folders inside these paths are
   *  still hidden. */
  readonly #shown: readonly string[];
  readonly #placeholders: Placeholders;
  readonly #newFiles = new NewFileWatcher();
  /** Real paths of the secrets that existed at the last call of `findSecrets`: at the last start of an image
   *  or, before that, of the server. */
  #secrets: readonly string[] = [];

  constructor(options: SandboxOptions) {
    const { roots, write, libraries, needed, strict, stateFolder, cacheFolder } = options;
    this.#options = options;
    this.#temporary = strict ? [] : temporaryFolders();
    this.#libraries = existingFolders(libraries);
    this.#areas = outermost([...roots, ...write, ...this.#libraries, ...this.#temporary]);
    // Leaves out a folder behind a link in another folder, because code that can write there could redirect
    // the link.
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

  /** Returns the files obeyed by programs outside the sandbox that have appeared in the workspace since the
   *  previous call. */
  takeNewFiles(): string[] {
    return this.#newFiles.take();
  }

  /** Tests in the sandbox whether its folders are writable. Returns the obstacle; undefined when there is
   *  none. Blocks until the end of the trial, so it must only be called at the start of the server. */
  obstacle(): Obstacle | undefined {
    const trial = this.#trial();
    return 'why' in trial ? trial : obstacleOf(trial);
  }

  /** Like obstacle, but does not block the main thread. Throws a SetupError when a file system does not
   *  answer. */
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
    // The workspace is empty in this sandbox, so that no file from an image can get into the agent, which
    // other images will load.
    const empty = existingFolders([...this.#areas, ...temporaryFolders(), '/var/tmp']);
    const mounts: Mounts = [
      ...[...empty, realPath(this.#options.root)].map((folder) => ['empty', folder] as const),
      ...this.#needed(command.program, empty),
      ['changed', realPath(this.#options.cacheFolder)],
    ];
    return this.#lockIn(command, mounts, ['--unshare-net']);
  }

  async lockIn(command: ProcessCommand, fasls?: string, root?: string): Promise<ProcessCommand> {
    const { strict } = this.#options;
    await checkAnswering([...this.#optionPaths, dirname(command.program)]);
    const changed = await orSetupError(() => this.#changed());
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
      ...this.#needed(command.program, [...empty, ...this.#secrets]),
      ...changed,
      ...(cache === undefined ? [] : [['changed', cache] as const]),
    ];
    const folder = empty.length === 0 ? [] : ['--dir', realPath(tmpdir()), ...this.#links(empty)];
    const more = [...folder, ...(strict ? ['--unshare-net'] : [])];
    return this.#lockIn({ ...command, env }, mounts, more, root);
  }

  /** All paths in the options. Callers first check that their file systems answer, and then use the paths
   *  without a timeout. */
  get #optionPaths(): string[] {
    const { root, roots, write, libraries, needed, trusted, cacheFolder, stateFolder, secrets, home } =
      this.#options;
    const listed = [...roots, ...write, ...libraries, ...needed, ...trusted, ...secrets];
    return [root, ...listed, cacheFolder, stateFolder, home];
  }

  /** Looks for secrets, and records them for `hides`. Throws an UnresponsiveFolderError when a file system
   *  does not answer. */
  async findSecrets(): Promise<void> {
    const { home, secrets } = this.#options;
    this.#secrets = [...(await secretPaths(home)), ...(await existingPaths(secrets))];
  }

  /** Looks for the secrets to hide, and creates placeholders for the folders that code must not create.
   *  Returns the mounts of the writable folders, read-only mounts inside these, and mounts that hide secrets.
   *  Throws an UnresponsiveFolderError when a file system does not answer. */
  async #changed(): Promise<Mounts> {
    const { home, libraries, trusted, cacheFolder } = this.#options;
    await this.findSecrets();
    await this.#placeholders.occupy(
      this.#workspace.flatMap((root) => FORBIDDEN_FOLDERS.map((name) => join(root, name))),
    );
    for (const root of this.#workspace) await this.#newFiles.watch(root, REPORTED_FILES);
    const records = await this.#occupiedRecords();
    const own = [...this.#workspace, ...this.#libraries];
    // A home inside a folder for temporary files is read-only, because nothing in a home is temporary.
    const sealed = isIn(this.#temporary, realPath(home)) ? [realPath(home)] : [];
    const open = (path: string) => isIn(own, path) || !isIn(sealed, path);
    const kept = await existingPaths([...trusted, ...records, cacheFolder]);
    for (const root of this.#workspace) kept.push(...(await protectedPaths(root)));
    for (const folder of libraries) kept.push(...(await repositoryPaths(folder)));
    // A mount of a path inside a secret, such as the repository of a password store, would make it visible,
    // so such paths are skipped.
    const visible = kept.filter((path) => !this.hides(path));
    const secrets = this.#secrets.filter((path) => this.hides(path) && !this.#covers(this.#hidden, path));
    // Code must not rename a folder with a secret in it, because nothing would hide the secret at its new
    // path.
    const held = secrets.filter((path) => ![...own, ...this.#areas].some((area) => isInside(path, area)));
    return [
      ...this.#areas.map((area) => ['changed', area] as const),
      ...readOnlyMounts(sealed, this.#temporary),
      ...own.filter((path) => !isIn(sealed, path)).flatMap((path) => pinned(path, this.#temporary)),
      ...own.map((path) => ['changed', path] as const),
      ...readOnlyMounts([...visible, ...held].filter(open), [...own, ...this.#temporary]),
      // The secrets come last, because the last mount of a path wins. A secret can also be a file that
      // programs obey, or a folder on the way to one.
      ...secrets.map((path) => ['hidden', path] as const),
    ];
  }

  /** Creates the folders for records of servers that cannot write in the home, so that sandboxed code cannot
   *  create them. Returns their paths. They are never removed, because other servers can use them too. */
  async #occupiedRecords(): Promise<string[]> {
    if (this.#temporary.length === 0) return [];
    const folders = [...new Set(['/tmp', tmpdir()].map((folder) => recordsFolder(realPath(folder))))];
    for (const folder of folders) {
      await withFileTimeout(dirname(folder), () => mkdir(folder, 0o700).catch(() => {}));
    }
    return folders;
  }

  /** True when an image in this sandbox does not see the file at REAL, a real path. */
  hides(real: string): boolean {
    return this.#covers([...this.#hidden, ...this.#secrets], real);
  }

  /** True when one of FOLDERS, which are hidden, hides the file at REAL, a real path. The innermost hidden or
   *  visible folder around REAL decides. */
  #covers(folders: readonly string[], real: string): boolean {
    return innermostPathLength(folders, real) > innermostPathLength(this.#shown, real);
  }

  /** Returns the path of the bwrap to use; undefined when there is none. An image could have put a bwrap into
   *  a folder that it can change, so these are ignored. */
  #bubblewrap(): string | undefined {
    return findBubblewrap(this.#areas);
  }

  /** Returns the folder of compiled files for images with the same writable folders and the same network
   *  access; undefined when it is unusable. Sandboxed code can put anything there, so no other image may load
   *  from it. */
  #ownCache(): string | undefined {
    const { cacheFolder, strict } = this.#options;
    const abilities = JSON.stringify([this.#workspace, strict]);
    const digest = digestOf(abilities).slice(0, 16);
    const folder = join(cacheFolder, 'sandboxes', digest);
    return cacheUsable(folder) ? realPath(folder) : undefined;
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
      ...this.#needed(command.program, serviceFolders()),
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

  /** Returns read-only mounts of the files inside FOLDERS that the program SBCL and an image need. The
   *  sandbox shows nothing else of FOLDERS. */
  #needed(sbcl: string, folders: readonly string[]): Mounts {
    const { needed, cacheFolder, strict } = this.#options;
    const lisp = [sbcl, join(dirname(sbcl), '..', 'lib', 'sbcl'), process.env['SBCL_HOME'] ?? sbcl];
    // The first path has the programs of NixOS. The second one is often a link to a file in a folder of
    // services.
    const system = ['/run/current-system', ...(strict ? [] : [realPath('/etc/resolv.conf')])];
    return [...needed, cacheFolder, ...lisp, ...system]
      .filter((path) => existsSync(path) && isIn(folders, realPath(path)))
      .map((path) => ['read', realPath(path)] as const);
  }

  /** Returns the arguments with which bubblewrap recreates symbolic links that were named as roots. The
   *  sandbox shows the folders EMPTY without their content, so links in these need it. */
  #links(empty: readonly string[]): string[] {
    return this.#options.roots
      .filter((root) => realPath(root) !== root && isIn(empty, realPath(dirname(root))))
      .filter((root) => !isIn(this.#areas, realPath(dirname(root))))
      .flatMap((link) => ['--symlink', realPath(link), link]);
  }
}

/** Returns the error for an obstacle to the start of an image, with advice. */
export function refusalOf({ why, remedy }: Obstacle): SetupError {
  return new SetupError(
    `The sandbox does not work here, so no Lisp image is started: ${why}. ${remedy} Or ask the user to start the server with --no-sandbox, best in a container or as another user.`,
  );
}
