// Decides what the doctor checks and what it prints.

import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from './config.ts';
import { messageOf } from './errors.ts';
import { obstacleToWriting } from './folders.ts';
import { SbclImage, type SbclOptions } from './image/own/sbcl-image.ts';
import { besidesHeapMb, cacheUsable } from './image/process/agent.ts';
import { libraryManager } from './image/process/libraries.ts';
import { findSbcl, managerOf, sbclVersion } from './image/process/sbcl.ts';
import type { Sandbox } from './image/sandbox/sandbox.ts';
import { shellLine } from './install/program.ts';

type Check = { ok: boolean; text: string };

/** Checks the set-up of OPTIONS, SANDBOX and CONFIG. REMARKS say which folders stand in for others. Prints a line for each
 *  check and how to set up the clients, and returns the exit code: 0, or 1 when something needed fails. */
export async function diagnose(
  options: SbclOptions,
  sandbox: Sandbox,
  config: Config,
  print: (text: string) => void,
  remarks: readonly string[],
): Promise<number> {
  const checks = [
    { ok: true, text: `node ${process.versions.node}: ${process.execPath}` },
    await checkSandbox(sandbox, config),
    ...(await checkImage(options)),
    ...remarks.map((text) => ({ ok: true, text })),
    ...checkFolders(config),
    checkCache(options),
    ...checkLibraries(config),
  ];
  for (const { ok, text } of checks) print(`${ok ? 'ok  ' : 'FAIL'} ${text}`);
  print(`\n${clientConfigurations(join(import.meta.dirname, 'live-lisp.js'))}`);
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

async function checkSandbox(sandbox: Sandbox, config: Config): Promise<Check> {
  const wanted = config.sandbox !== 'off';
  const obstacle = await sandbox.obstacle();
  const found = obstacle === undefined ? 'works' : `${obstacle.why}. ${obstacle.remedy}`;
  return {
    ok: obstacle === undefined || !wanted,
    text: `sandbox: ${found}${wanted ? '' : ' (only --sandbox needs it)'}`,
  };
}

async function checkImage(options: SbclOptions): Promise<Check[]> {
  let sbcl: string;
  try {
    sbcl = findSbcl(options.sbcl);
  } catch (error) {
    return [{ ok: false, text: `sbcl: ${messageOf(error)}` }];
  }
  const manager = options.sbcl === undefined ? managerOf(sbcl) : undefined;
  const place = manager === undefined ? '' : ` (not on PATH, but where ${manager} puts it)`;
  const checks: Check[] = [{ ok: true, text: `sbcl ${sbcl}: ${sbclVersion(sbcl)}${place}` }];
  const image = new SbclImage({ ...options, startFiles: () => [] });
  const began = performance.now();
  try {
    const { data } = await image.call('evaluate', { code: '(lisp-implementation-version)' });
    const value = data.values?.[0]?.[0]?.text ?? 'no value';
    checks.push({
      ok: true,
      text: `image: evaluates, ${Math.round(performance.now() - began)} ms after its start (${value})`,
    });
    checks.push(...abilityChecks(await image.greeting()));
  } catch (error) {
    checks.push({ ok: false, text: `image: ${messageOf(error)}` });
  } finally {
    image.close();
  }
  return checks;
}

/** Returns what is told of the abilities that an image is WITHOUT, and of what it does instead, its FALLBACKS. */
export function abilityChecks({ without, fallbacks }: { without: string[]; fallbacks: string[] }): Check[] {
  const cl = 'cross-references to CL';
  const limits = 'address-space limits';
  const others = fallbacks.filter((text) => !text.startsWith(`${cl}:`) && !text.startsWith(`${limits}:`));
  return [
    {
      ok: true,
      text: without.includes(cl)
        ? 'cross references: this SBCL keeps none to CL symbols, so who_calls cannot find callers of mapcar and the like'
        : 'cross references: kept, to CL symbols too',
    },
    {
      ok: true,
      text: without.includes(limits)
        ? 'memory: the heap is bounded; this system holds the image to no limit besides, so foreign code can use up the memory'
        : `memory: the heap is bounded, and what the image takes besides (${besidesHeapMb()} MB)`,
    },
    {
      ok: true,
      text:
        others.length === 0
          ? 'internals of SBCL: all that the agent uses are there'
          : `internals of SBCL: some are not there, so the agent does something else. ${others.join('; ')}`,
    },
  ];
}

/** What does not run where its record cannot be written. */
const NOTHING_RUNS = 'so no call runs that can change something';

/** Checks the folders that the server writes to, besides the cache, which it can do without. */
function checkFolders({ state, audit, auditNamed }: Config): Check[] {
  const file = auditNamed ? obstacleToRecording(audit) : undefined;
  return [
    folderCheck('records', state, `${NOTHING_RUNS}. Set XDG_STATE_HOME to a folder of yours.`),
    ...(auditNamed
      ? [placeCheck('audit log', audit, file, `${NOTHING_RUNS}. Name another with --audit FILE.`)]
      : []),
    folderCheck('temporary files', tmpdir(), 'so some tools fail. Set TMPDIR to a folder of yours.'),
  ];
}

function folderCheck(what: string, folder: string, consequence: string): Check {
  return placeCheck(what, folder, obstacleToWriting(folder), consequence);
}

function placeCheck(what: string, path: string, obstacle: string | undefined, consequence: string): Check {
  if (obstacle === undefined) return { ok: true, text: `${what}: ${path}` };
  return { ok: false, text: `${what}: ${path} cannot be written (${obstacle}), ${consequence}` };
}

/** Returns why no line can be added to FILE. */
function obstacleToRecording(file: string): string | undefined {
  if (!existsSync(file)) return obstacleToWriting(dirname(file));
  try {
    closeSync(openSync(file, constants.O_APPEND | constants.O_NONBLOCK | constants.O_WRONLY));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? messageOf(error);
  }
}

function checkCache({ cacheFolder }: SbclOptions): Check {
  const usable = cacheUsable(cacheFolder);
  return {
    ok: true,
    text: usable
      ? `cache: ${cacheFolder}`
      : `cache: ${cacheFolder} cannot be written, or is not yours alone; each start compiles the agent, which takes some seconds`,
  };
}

function searched({ root, roots }: Config): string {
  return roots.length > 0 ? `${roots.join(', ')}, and everything below` : `${root} only`;
}

function checkLibraries(config: Config): Check[] {
  const manager = libraryManager(config);
  return [
    { ok: true, text: `ASDF looks in ${searched(config)}` },
    {
      ok: true,
      text:
        manager === undefined
          ? `libraries: ${config.libraries === 'auto' ? 'no Quicklisp, qlot or ocicl is set up (none is needed)' : `--libraries ${config.libraries}, and none is used`}`
          : `libraries: ${manager.name} (${manager.file}) is loaded when a system or a form first needs it`,
    },
  ];
}

/** Returns how MCP clients are told to start SCRIPT. */
function clientConfigurations(script: string): string {
  const command = `${shellLine([process.execPath, script])}`;
  const json = JSON.stringify({ command: process.execPath, args: [script] });
  return [
    `live-lisp install sets clients up. By hand it is:`,
    `Claude Code:  claude mcp add live-lisp -- ${command}`,
    `Codex:        codex mcp add live-lisp -- ${command}`,
    `Others:       {"mcpServers": {"live-lisp": ${json}}}`,
  ].join('\n');
}
