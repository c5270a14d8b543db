// Decides whether images run in a sandbox, creates the sandbox, and describes it in texts.

import { dirname, join } from 'node:path';
import type { Config } from './config.ts';
import { UsageError } from './errors.ts';
import { commandText } from './image/process/image-command.ts';
import { libraryFolders, libraryManager } from './image/process/libraries.ts';
import { findSbcl } from './image/process/sbcl.ts';
import type { Obstacle } from './image/sandbox/bubblewrap.ts';
import { Sandbox } from './image/sandbox/sandbox.ts';
import { homeFolder, makeFolder, realPath } from './paths.ts';

/** The folder of the package. This file is bundled into files of the folder dist, so the package is the parent of
 * dist. */
export const PACKAGE_FOLDER = join(import.meta.dirname, '..');

/** Maps a configuration to its sandbox. There is only one, so that all parts of a server share its state. */
const sandboxes = new WeakMap<Config, Sandbox>();

/** Returns the sandbox for images of CONFIG, even when CONFIG turns sandboxes off. */
export function sandboxOf(config: Config): Sandbox {
  const sandbox = sandboxes.get(config) ?? newSandbox(config);
  sandboxes.set(config, sandbox);
  return sandbox;
}

function newSandbox(config: Config): Sandbox {
  const manager = libraryManager(config);
  const { root, roots, write, readRoots, init, cache, state, serving } = config;
  return new Sandbox({
    root,
    roots,
    write,
    libraries: manager === undefined ? [] : libraryFolders(manager),
    needed: [
      join(PACKAGE_FOLDER, 'lisp'),
      ...readRoots,
      ...(init ? [init] : []),
      ...(manager ? [manager.file] : []),
    ],
    trusted: [
      ...['dist', 'lisp', 'package.json'].map((name) => join(PACKAGE_FOLDER, name)),
      process.execPath,
      ...programOf(config),
      state,
      ...auditFolder(config),
      ...(serving === undefined ? [] : [serving]),
    ],
    secrets: [tokensFolder(config), ...(config.httpToken.file === undefined ? [] : [config.httpToken.file])],
    cacheFolder: cache,
    stateFolder: state,
    home: homeFolder() ?? '/',
    strict: config.sandbox === 'strict',
  });
}

/** Returns the paths of the SBCL of CONFIG and of the folder lib/sbcl of this SBCL. Returns [] when no SBCL is
 * found. */
function programOf({ sbcl }: Config): string[] {
  try {
    const program = findSbcl(sbcl);
    return [program, join(dirname(program), '..', 'lib', 'sbcl')];
  } catch {
    return []; // The start of the image will report this.
  }
}

/** Returns CONFIG. If its sandbox is `auto`, replaces this by `on` when the sandbox works. Otherwise replaces it by
 * `off`, and stores the reason as noSandboxReason. */
export function withSandbox(config: Readonly<Config>): Readonly<Config> {
  return withDecision(config, config.sandbox === 'auto' ? sandboxOf(config).obstacle() : undefined);
}

/** Like withSandbox, but does not block the main thread. */
export async function withSandboxAsync(config: Readonly<Config>): Promise<Readonly<Config>> {
  if (config.sandbox !== 'auto') return withDecision(config, undefined);
  // If a file system does not answer, it is unknown whether the sandbox works. Then the sandbox stays on, so that no
  // image starts without one.
  return withDecision(
    config,
    await sandboxOf(config)
      .obstacleAsync()
      .catch(() => undefined),
  );
}

/** Returns CONFIG with a decision in place of `auto`. OBSTACLE is the reason why the sandbox does not work; undefined
 * when it works. */
function withDecision(config: Readonly<Config>, obstacle: Obstacle | undefined): Readonly<Config> {
  const resolved: Config =
    config.sandbox !== 'auto'
      ? config
      : obstacle === undefined
        ? { ...config, sandbox: 'on' }
        : { ...config, sandbox: 'off', noSandboxReason: `${obstacle.why}. ${obstacle.remedy}` };
  checkAudit(resolved);
  return Object.freeze(resolved);
}

/** Returns sentences, for models and people, that say what code in the images of CONFIG cannot do. */
export function sandboxText(config: Config): string {
  if (config.imageCommand !== undefined) {
    return `The image ${config.image} is started by this command: ${commandText(config.imageCommand)}. live-lisp does not put it in a sandbox, so its code can do all that the command can.`;
  }
  if (config.noSandboxReason !== undefined) {
    return `Code in the image runs without a sandbox, so it can do all that you can. No sandbox works here: ${config.noSandboxReason}`;
  }
  if (config.sandbox === 'off')
    return 'Code in the image runs without a sandbox, so it can do all that you can.';
  const { writable, strict } = sandboxOf(config);
  return `Code in the image is in a sandbox: it may write only in ${writable.join(', ')}, ${strict ? 'and has no network' : 'and can use the network'}.`;
}

/** Throws a UsageError when sandboxed code could replace the audit log of CONFIG. A full log is renamed, so its whole
 * folder must be read-only in the sandbox. A folder in which sandboxed code may write cannot be read-only. */
function checkAudit(config: Config): void {
  const { sandbox, auditNamed, audit } = config;
  if (sandbox === 'off' || !auditNamed) return;
  const folder = realPath(dirname(audit));
  if (!sandboxOf(config).writable.includes(folder)) return;
  throw new UsageError(
    `--audit cannot name a file in ${folder}, because code in the sandbox can write there: put ${audit} into a folder of its own.`,
  );
}

/** Returns the folder of the tokens of HTTP servers, and creates it if necessary. It must exist now, because the
 * sandbox cannot hide a folder that another server creates later. */
function tokensFolder({ tokens }: Config): string {
  try {
    makeFolder(tokens, 0o700);
  } catch {} // The server that needs a token reports this.
  return tokens;
}

/** Returns the folder of the audit log, in an array, and creates it if necessary. Returns [] when CONFIG does not name
 * an audit log. */
function auditFolder({ auditNamed, audit }: Config): string[] {
  if (!auditNamed) return [];
  try {
    makeFolder(dirname(audit), 0o700);
  } catch {} // The first call that must be recorded will report this.
  return [dirname(audit)];
}
