// Decides what an image in the sandbox sees of the system, and what it can change.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { answered, checkAnswering, orNotAnswering } from '../../files/answering.ts';
import { realPath, recordsIn } from '../../paths.ts';
import { cacheUsable, outputTranslations } from '../process/agent.ts';
import type { Cell, Command } from '../process/command.ts';
import {
  findBubblewrap,
  missingBubblewrap,
  type Obstacle,
  obstacleAside,
  obstacleOf,
  unknownProcessor,
} from './bubblewrap.ts';
import { filterFile } from './filter-file.ts';
import {
  existingFolders,
  fixed,
  isIn,
  type Mounts,
  mountArguments,
  onlyRead,
  outermost,
  serviceFolders,
  temporaryFolders,
} from './mounts.ts';
import { Newcomers } from './newcomers.ts';
import { Placeholders } from './placeholders.ts';
import { existingPaths, NEVER_MADE, NOTICED, protectedPaths, repositoryPaths } from './protected.ts';
import { secretPaths } from './secrets.ts';
import { systemCallFilter } from './system-calls.ts';

export interface SandboxOptions {
  /** Where the image runs. */
  root: string;
  /** The directories that it can change: those of the workspace, and those that a person names besides. */
  roots: readonly string[];
  write: readonly string[];
  /** The folders in which a library manager puts libraries. */
  libraries: readonly string[];
  /** What it has to see wherever that is, besides the cache. */
  needed: readonly string[];
  /** What runs or is kept outside, which it must not change wherever that is. */
  trusted: readonly string[];
  /** The folder for compiled files, and that for what is kept between runs. */
  cacheFolder: string;
  stateFolder: string;
  home: string;
  /** Whether it has no network, and temporary files of its own. */
  strict: boolean;
}

/** The sandbox has namespaces of its own, and no privilege even where the user has some. It can gain none by further
 *  user namespaces, in which control groups could be mounted. It ends with the process that starts it. It can write
 *  nothing, not even the settings of the kernel, which root can write without any privilege. */
const LOCKS = (
  '--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--new-session --die-with-parent --ro-bind / / --proc /proc --remount-ro /proc --dev /dev'
).split(' ');

/** Opens the filter, which is the first word, as the descriptor that bubblewrap reads it from. Node gives a process
 *  only descriptors that whoever starts it knows of. */
const WITH_FILTER = 'exec "$@" 9<"$0"';

/** Exits with 9 when a folder of its arguments cannot be written. */
const TRIAL = 'for folder; do test -w "$folder" || exit 9; done';

/** What leads to services that act for the user outside, none of which can be reached. */
const WITHHELD = ['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

/** Memory that programs share. */
const SHARED_MEMORY = '/dev/shm';

export class Sandbox implements Cell {
  readonly #options: SandboxOptions;
  /** Real paths, found before any image of ours could exchange what is on the way. */
  readonly #workspace: readonly string[];
  readonly #libraries: readonly string[];
  readonly #temporary: readonly string[];
  readonly #areas: readonly string[];
  /** What an image does not see but for what it is shown, besides secrets. */
  readonly #hidden: readonly string[];
  readonly #shown: readonly string[];
  readonly #placeholders: Placeholders;
  readonly #newcomers = new Newcomers();
  /** What was hidden as an image was locked in last. */
  #secrets: readonly string[] = [];

  constructor(options: SandboxOptions) {
    const { roots, write, libraries, needed, strict, stateFolder, cacheFolder } = options;
    this.#options = options;
    this.#temporary = strict ? [] : temporaryFolders();
    this.#libraries = existingFolders(libraries);
    this.#areas = outermost([...roots, ...write, ...this.#libraries, ...this.#temporary]);
    // What is reached through another root only, code in that could exchange.
    const named = [...new Set([...roots, ...write].map(realPath))];
    this.#workspace = named.filter((folder) => isIn(this.#areas, folder));
    this.#hidden = [
      ...serviceFolders(),
      SHARED_MEMORY,
      ...(strict ? existingFolders([...temporaryFolders(), '/var/tmp']) : []),
    ];
    this.#shown = [...this.#workspace, ...[...needed, cacheFolder].map(realPath)];
    this.#placeholders = new Placeholders(join(stateFolder, 'placeholders'));
  }

  /** The folders that code in it changes, for people. */
  get writable(): readonly string[] {
    return [...new Set([...this.#workspace, ...this.#areas])];
  }

  /** Whether it has no network. */
  get strict(): boolean {
    return this.#options.strict;
  }

  /** Returns, once, the files that programs outside obey and that have appeared since an image was locked in. */
  takeNewcomers(): string[] {
    return this.#newcomers.take();
  }

  /** Returns why no image can be locked in here, if none can; found out by locking in a program that only looks. This waits
   *  for that program, so it is for the start. */
  obstacle(): Obstacle | undefined {
    const trial = this.#trial();
    return 'why' in trial ? trial : obstacleOf(trial);
  }

  /** Returns the same, and waits for nothing. Throws a SetupError when a file system does not answer. */
  async obstacleAside(): Promise<Obstacle | undefined> {
    await checkAnswering(this.#named);
    const trial = this.#trial();
    return 'why' in trial ? trial : obstacleAside(trial);
  }

  async check(): Promise<void> {
    const obstacle = await this.obstacleAside();
    if (obstacle !== undefined) throw refusalOf(obstacle);
  }

  /** Returns the program that only looks, locked in, or why none can be. */
  #trial(): Command | Obstacle {
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

  async lockInCompiler(command: Command): Promise<Command> {
    await checkAnswering([...this.#named, dirname(command.program)]);
    // No workspace: nothing that an image could have put there has a part in what other images trust.
    const empty = existingFolders([...this.#areas, ...temporaryFolders(), '/var/tmp']);
    const mounts: Mounts = [
      ...[...empty, realPath(this.#options.root)].map((folder) => ['empty', folder] as const),
      ...this.#needed(command.program, empty),
      ['changed', realPath(this.#options.cacheFolder)],
    ];
    return this.#lockIn(command, mounts, ['--unshare-net']);
  }

  async lockIn(command: Command): Promise<Command> {
    const { strict } = this.#options;
    await checkAnswering([...this.#named, dirname(command.program)]);
    const changed = await orNotAnswering(() => this.#changed());
    const cache = this.#ownCache();
    const place = cache ?? join(tmpdir(), 'cache');
    const env = {
      ...command.env,
      XDG_CACHE_HOME: place,
      ASDF_OUTPUT_TRANSLATIONS: outputTranslations(place),
    };
    const empty = strict ? existingFolders([...temporaryFolders(), '/var/tmp']) : [];
    const mounts: Mounts = [
      ...empty.map((folder) => ['empty', folder] as const),
      ...this.#secrets.map((path) => ['hidden', path] as const),
      ...this.#needed(command.program, empty),
      ...changed,
      ...(cache === undefined ? [] : [['changed', cache] as const]),
    ];
    const folder = empty.length === 0 ? [] : ['--dir', realPath(tmpdir()), ...this.#links(empty)];
    return this.#lockIn({ ...command, env }, mounts, [...folder, ...(strict ? ['--unshare-net'] : [])]);
  }

  /** What is named from outside: after these have answered, they are looked at without further ado. */
  get #named(): string[] {
    const { root, roots, write, libraries, needed, trusted, cacheFolder, stateFolder, home } = this.#options;
    return [root, ...roots, ...write, ...libraries, ...needed, ...trusted, cacheFolder, stateFolder, home];
  }

  /** Finds what is hidden, takes the names that code must not make, and returns mounts of what code changes, and of what in
   *  that is only read. Throws an UnansweredError when a file system does not answer. */
  async #changed(): Promise<Mounts> {
    const { home, libraries, trusted, cacheFolder } = this.#options;
    this.#secrets = await secretPaths(home);
    await this.#placeholders.hold(
      this.#workspace.flatMap((root) => NEVER_MADE.map((name) => join(root, name))),
    );
    for (const root of this.#workspace) await this.#newcomers.watch(root, NOTICED);
    const records = await this.#takenRecords();
    const own = [...this.#workspace, ...this.#libraries];
    // A home in a folder for temporary files is no temporary file.
    const sealed = isIn(this.#temporary, realPath(home)) ? [realPath(home)] : [];
    const open = (path: string) => isIn(own, path) || !isIn(sealed, path);
    const kept = await existingPaths([...trusted, ...records, cacheFolder]);
    for (const root of this.#workspace) kept.push(...(await protectedPaths(root)));
    for (const folder of libraries) kept.push(...(await repositoryPaths(folder)));
    return [
      ...this.#areas.map((area) => ['changed', area] as const),
      ...onlyRead(sealed, this.#temporary),
      ...own.filter((path) => !isIn(sealed, path)).flatMap((path) => fixed(path, this.#temporary)),
      ...own.map((path) => ['changed', path] as const),
      ...onlyRead(kept.filter(open), [...own, ...this.#temporary]),
    ];
  }

  /** Returns the folders for the records of servers that cannot write in the home, which are made, so that code cannot make
   *  them. They stay: another server can go by them, too. */
  async #takenRecords(): Promise<string[]> {
    if (this.#temporary.length === 0) return [];
    const folders = [...new Set(['/tmp', tmpdir()].map((folder) => recordsIn(realPath(folder))))];
    for (const folder of folders) {
      await answered(dirname(folder), () => mkdir(folder, 0o700).catch(() => {}));
    }
    return folders;
  }

  /** Returns whether an image that is locked in here does not see the file at REAL, a real path. */
  hides(real: string): boolean {
    return isIn([...this.#hidden, ...this.#secrets], real) && !isIn(this.#shown, real);
  }

  /** Returns the bwrap to use: none that an image could have put there. */
  #bubblewrap(): string | undefined {
    return findBubblewrap(this.#areas);
  }

  /** Returns a folder for compiled files that only images with the same abilities load from: code in the sandbox can put
   *  anything there. Returns undefined where there can be no such folder. */
  #ownCache(): string | undefined {
    const { cacheFolder, strict } = this.#options;
    const abilities = JSON.stringify([this.#workspace, strict]);
    const digest = createHash('sha256').update(abilities).digest('hex').slice(0, 16);
    const folder = join(cacheFolder, 'sandboxes', digest);
    return cacheUsable(folder) ? realPath(folder) : undefined;
  }

  #lockIn(command: Command, mounts: Mounts, more: readonly string[] = []): Command {
    const program = this.#bubblewrap();
    if (program === undefined) throw refusalOf(missingBubblewrap());
    const filter = filterFile(this.#options.cacheFolder);
    const system: Mounts = [
      ...serviceFolders().map((folder) => ['empty', folder] as const),
      ['empty', SHARED_MEMORY],
      ...this.#needed(command.program, serviceFolders()),
    ];
    const start = ['--chdir', realPath(this.#options.root), '--', command.program, ...command.args];
    const env: NodeJS.ProcessEnv = { ...command.env, TMPDIR: tmpdir() };
    for (const name of WITHHELD) delete env[name];
    const locks = [...LOCKS, '--seccomp', '9', ...mountArguments([...system, ...mounts]), ...more];
    return {
      program: '/bin/sh',
      args: ['-c', WITH_FILTER, filter, program, ...locks, ...start],
      env,
      tellsSignals: true,
    };
  }

  /** Returns mounts of what the program SBCL and its image need that lies in FOLDERS, which are empty. */
  #needed(sbcl: string, folders: readonly string[]): Mounts {
    const { needed, cacheFolder, strict } = this.#options;
    const lisp = [sbcl, join(dirname(sbcl), '..', 'lib', 'sbcl'), process.env['SBCL_HOME'] ?? sbcl];
    // On NixOS the programs are in the first; the second is a link to a file in a hidden folder on many systems.
    const system = ['/run/current-system', ...(strict ? [] : [realPath('/etc/resolv.conf')])];
    return [...needed, cacheFolder, ...lisp, ...system]
      .filter((path) => existsSync(path) && isIn(folders, realPath(path)))
      .map((path) => ['read', realPath(path)] as const);
  }

  /** Returns the arguments that make the links by which roots were named, where those lie in EMPTY folders. */
  #links(empty: readonly string[]): string[] {
    return this.#options.roots
      .filter((root) => realPath(root) !== root && isIn(empty, realPath(dirname(root))))
      .filter((root) => !isIn(this.#areas, realPath(dirname(root))))
      .flatMap((link) => ['--symlink', realPath(link), link]);
  }
}

/** Returns the error for a start that OBSTACLE prevents: the sandbox does not work, and how a person mends that. */
export function refusalOf({ why, remedy }: Obstacle): SetupError {
  return new SetupError(
    `The sandbox does not work here, so no Lisp image is started: ${why}. ${remedy} Or ask the user to start the server with --no-sandbox, in a container or as another user.`,
  );
}
