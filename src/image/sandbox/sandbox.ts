// Decides what an image in the sandbox sees of the system, and what it can change.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { realPath } from '../../paths.ts';
import { cacheUsable, outputTranslations } from '../process/agent.ts';
import type { Cell, Command } from '../process/command.ts';
import { findBubblewrap, missingBubblewrap, type Obstacle, obstacleOf } from './bubblewrap.ts';
import { hiddenFolders, isIn, openSockets, outermost } from './mounts.ts';

export interface SandboxOptions {
  /** Where the image runs. */
  root: string;
  /** The directories that it can change. */
  roots: readonly string[];
  /** What it has to see wherever that is, besides the cache. */
  needed: readonly string[];
  /** The folder for compiled files. */
  cacheFolder: string;
  network: boolean;
}

/** The sandbox has namespaces of its own, and no privilege even where the user has some. It can gain none by further
 *  user namespaces, in which control groups could be mounted. It ends with the process that starts it. It can write
 *  nothing, not even the settings of the kernel, which root can write without any privilege. */
const LOCKS = (
  '--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--new-session --die-with-parent --ro-bind / / --proc /proc --remount-ro /proc --dev /dev'
).split(' ');

/** Bytes that a folder which is in memory can hold. */
const EMPTY_SIZE = String(1024 ** 3);

/** What leads to services that act for the user outside; their sockets are hidden as well. */
const WITHHELD = ['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

/** What a command that is locked in can change. */
interface Reach {
  /** Directories that are empty, and what is put there goes with the sandbox. */
  empty?: readonly string[];
  writable: readonly string[];
  network: boolean;
}

export class Sandbox implements Cell {
  readonly #options: SandboxOptions;
  /** Real paths, found before any image of ours could exchange what is on the way. */
  readonly #roots: readonly string[];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#roots = outermost(options.roots);
  }

  /** Returns why no image can be locked in here, if none can; found out by locking in a program that does nothing. */
  async obstacle(): Promise<Obstacle | undefined> {
    if (this.#bubblewrap() === undefined) return missingBubblewrap();
    const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` };
    return obstacleOf(this.lockIn({ program: 'true', args: [], env }));
  }

  /** Throws a SetupError when no image can be locked in here. */
  async check(): Promise<void> {
    const obstacle = await this.obstacle();
    if (obstacle !== undefined) throw refusal(obstacle);
  }

  /** Returns how COMMAND is run, which puts the compiled agent into the cache: images can only read that. Throws a
   *  SetupError when there is no bubblewrap. */
  lockInCompiler(command: Command): Command {
    // No workspace: nothing that an image could have put there has a part in what other images trust.
    const reach = { empty: this.#roots, writable: [realPath(this.#options.cacheFolder)], network: false };
    return this.#lockIn(command, reach);
  }

  /** Returns how COMMAND is run in the sandbox. Throws a SetupError when there is no bubblewrap. */
  lockIn(command: Command): Command {
    const cache = this.#ownCache();
    const place = cache ?? join(tmpdir(), 'cache');
    const env = {
      ...command.env,
      XDG_CACHE_HOME: place,
      ASDF_OUTPUT_TRANSLATIONS: outputTranslations(place),
    };
    const writable = [...this.#roots, ...(cache === undefined ? [] : [cache])];
    return this.#lockIn({ ...command, env }, { writable, network: this.#options.network });
  }

  /** Returns whether an image that is locked in here does not see the file at REAL, a real path. */
  hides(real: string): boolean {
    const { needed, cacheFolder } = this.#options;
    const seen = [...needed, cacheFolder].map(realPath);
    return isIn([...hiddenFolders(), '/dev/shm'], real) && !isIn([...this.#roots, ...seen], real);
  }

  /** Returns the bwrap to use: none that an image could have put there. */
  #bubblewrap(): string | undefined {
    return findBubblewrap(this.#roots);
  }

  /** Returns a folder for compiled files that only images with the same abilities load from: code in the sandbox can put
   *  anything there. Returns undefined where there can be no such folder. */
  #ownCache(): string | undefined {
    const { cacheFolder, network } = this.#options;
    const abilities = JSON.stringify([this.#roots, network]);
    const digest = createHash('sha256').update(abilities).digest('hex').slice(0, 16);
    const folder = join(cacheFolder, 'sandboxes', digest);
    return cacheUsable(folder) ? realPath(folder) : undefined;
  }

  #lockIn(command: Command, { empty = [], writable, network }: Reach): Command {
    const program = this.#bubblewrap();
    if (program === undefined) throw refusal(missingBubblewrap());
    const hidden = hiddenFolders();
    const needed = this.#needed(command.program, network).filter(
      (path) => existsSync(path) && isIn(hidden, realPath(path)),
    );
    const seen = (path: string) => !isIn(hidden, path) || isIn([...needed, ...writable], path);
    const mounts = [
      ...hidden.map((folder) => ['--size', EMPTY_SIZE, '--tmpfs', folder]),
      ['--dir', realPath(tmpdir())],
      ['--size', EMPTY_SIZE, '--tmpfs', '/dev/shm'],
      ...needed.map((path) => ['--ro-bind', realPath(path), path]),
      ...empty.map((folder) => ['--tmpfs', folder]),
      ...writable.map((folder) => ['--bind', folder, folder]),
      ...this.#links(seen).map((link) => ['--symlink', realPath(link), link]),
      ...openSockets()
        .filter(seen)
        .map((path) => ['--ro-bind', '/dev/null', path]),
    ].flat();
    const start = ['--chdir', realPath(this.#options.root), '--', command.program, ...command.args];
    const env: NodeJS.ProcessEnv = { ...command.env, TMPDIR: tmpdir() };
    for (const name of WITHHELD) delete env[name];
    return {
      program,
      args: [...LOCKS, ...(network ? [] : ['--unshare-net']), ...mounts, ...start],
      env,
      tellsSignals: true,
    };
  }

  #needed(sbcl: string, network: boolean): string[] {
    const { needed, cacheFolder } = this.#options;
    const lisp = [sbcl, join(dirname(sbcl), '..', 'lib', 'sbcl'), process.env['SBCL_HOME'] ?? sbcl];
    // On NixOS the programs are in the first; the second is a link to a file in a hidden folder on many systems.
    const system = ['/run/current-system', ...(network ? [realPath('/etc/resolv.conf')] : [])];
    return [...needed, cacheFolder, ...lisp, ...system];
  }

  /** Returns the roots that were named by a link which is not SEEN. */
  #links(seen: (path: string) => boolean): string[] {
    return this.#options.roots.filter((root) => realPath(root) !== root && !seen(realPath(dirname(root))));
  }
}

function refusal({ why, remedy }: Obstacle): SetupError {
  return new SetupError(`--sandbox does not work here, so no Lisp image is started: ${why}. ${remedy}`);
}
