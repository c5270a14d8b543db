// Checks that this machine has what the server and its images need: folders, libraries, a sandbox. Also looks for
// images in the workspace to which the server can attach, and describes how clients are set up by hand.

import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { servingNow } from '../attach.ts';
import type { Config } from '../config.ts';
import { messageOf } from '../errors.ts';
import { obstacleToWriting } from '../folders.ts';
import { cacheUsable } from '../image/process/backend.ts';
import { libraryManager } from '../image/process/libraries.ts';
import { servedName } from '../image/wire/served.ts';
import { findThroughSwank } from '../images.ts';
import { initFileNotLoaded } from '../init-file.ts';
import { SCRIPT_NAME } from '../install/entry.ts';
import { shellLine } from '../install/program.ts';
import type { Finding } from '../install/report.ts';
import { PACKAGE_FOLDER, sandboxOf, sandboxText } from '../sandboxing.ts';

/** Returns a finding about the sandbox of CONFIG. The finding is not ok when a required sandbox does not work, because
 * no image starts then. */
export function checkSandbox(config: Config): Finding {
  const obstacle = config.sandbox === 'off' ? undefined : sandboxOf(config).obstacle();
  if (obstacle === undefined) return { ok: true, text: `sandbox: ${sandboxText(config)}` };
  return { ok: false, text: `sandbox: ${obstacle.why}. ${obstacle.remedy}` };
}

/** The consequence when calls cannot be recorded, as a clause of a sentence. */
const NOTHING_RUNS = 'so calls that can change something are refused';

/** Returns findings about the folders in which the server writes. A cache that cannot be written is no failure, because
 * the server works without it. */
export function checkFolders({ state, audit, auditNamed, cache }: Config): Finding[] {
  const file = auditNamed ? obstacleToRecording(audit) : undefined;
  return [
    checkFolder('records', state, `${NOTHING_RUNS}. Set XDG_STATE_HOME to a folder that you own.`),
    ...(auditNamed
      ? [checkPlace('audit log', audit, file, `${NOTHING_RUNS}. Name another with --audit FILE.`)]
      : []),
    checkFolder('temporary files', tmpdir(), 'so some tools fail. Set TMPDIR to a folder that you own.'),
    {
      ok: true,
      text: cacheUsable(cache)
        ? `cache: ${cache}`
        : `cache: ${cache} cannot be used, so each start compiles the backend, which takes some seconds. Make it a folder that you own and nobody else can write.`,
    },
  ];
}

function checkFolder(what: string, folder: string, consequence: string): Finding {
  return checkPlace(what, folder, obstacleToWriting(folder), consequence);
}

function checkPlace(what: string, path: string, obstacle: string | undefined, consequence: string): Finding {
  if (obstacle === undefined) return { ok: true, text: `${what}: ${path}` };
  return { ok: false, text: `${what}: ${path} cannot be written (${obstacle}), ${consequence}` };
}

function obstacleToRecording(file: string): string | undefined {
  if (!existsSync(file)) return obstacleToWriting(dirname(file));
  try {
    closeSync(openSync(file, constants.O_APPEND | constants.O_NONBLOCK | constants.O_WRONLY));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? messageOf(error);
  }
}

/** Returns findings about the folders in which ASDF searches for systems, and about the library manager. */
export function checkLibraries(config: Config): Finding[] {
  const { root, roots, libraries } = config;
  const manager = libraryManager(config);
  const unloaded = initFileNotLoaded(config.init);
  const searched = roots.length > 0 ? `${roots.join(', ')}, and everything below` : `${root} only`;
  return [
    { ok: true, text: `ASDF looks in ${searched}` },
    {
      ok: true,
      text:
        manager === undefined
          ? `libraries: ${libraries === 'auto' ? 'no Quicklisp, qlot or ocicl is set up (none is needed)' : `--libraries ${libraries}, and none is used`}`
          : `libraries: ${manager.name} (${manager.file}) is loaded when a system or a form first needs it`,
    },
    ...(unloaded === undefined
      ? []
      : [
          {
            ok: true,
            text: `${unloaded} does more than set up a library manager, so images do not load it; --init ${unloaded} loads it`,
          },
        ]),
  ];
}

/** Returns a finding about the images in CONFIG's workspace to which a server can attach. It is not ok when there are
 * several, because a server then runs no call until the user has chosen one. */
export async function checkServing(config: Config): Promise<Finding> {
  if (config.swank !== undefined) return checkSwank(config.swank, config);
  const { fitting, refusal } = await servingNow(config);
  const names = fitting.map(servedName).join(', ');
  const text =
    fitting.length > 1
      ? `${fitting.length} serve this folder (${names}), so no call runs; choose one with --image NAME, or --image own`
      : fitting.length === 1
        ? `${names} serves this folder, and is used unless --image own is given`
        : (refusal ?? 'none serves this folder; live-lisp attach prints the line that makes one serve');
  return { ok: fitting.length < 2, text: `your own images: ${text}` };
}

/** Returns a finding about the image that serves Swank at ADDRESS. Asks that image to accept connections from
 * servers. */
async function checkSwank(address: NonNullable<Config['swank']>, { serving }: Config): Promise<Finding> {
  try {
    const served = await findThroughSwank(address, serving)();
    return {
      ok: true,
      text: `your own images: live-lisp uses ${servedName(served)}, which serves ${served.workspace} and was found through ${served.through}`,
    };
  } catch (error) {
    return { ok: false, text: `your own images: ${messageOf(error)}` };
  }
}

/** Returns instructions to set up MCP clients to start this program. */
export function clientConfigurations(): string {
  const script = join(PACKAGE_FOLDER, 'dist', SCRIPT_NAME);
  const command = `${shellLine([process.execPath, script])}`;
  const json = JSON.stringify({ command: process.execPath, args: [script] });
  return [
    `live-lisp install sets clients up. To do it by hand:`,
    `Claude Code:  claude mcp add live-lisp -- ${command}`,
    `Codex:        codex mcp add live-lisp -- ${command}`,
    `Others:       {"mcpServers": {"live-lisp": ${json}}}`,
  ].join('\n');
}
