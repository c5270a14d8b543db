// Decides what the doctor checks and what it prints.

import { join } from 'node:path';
import { type Config, searchesTree } from './config.ts';
import { messageOf } from './errors.ts';
import { SbclImage, type SbclOptions } from './image/own/sbcl-image.ts';
import { besidesHeapMb, cacheUsable } from './image/process/agent.ts';
import { libraryManagers } from './image/process/libraries.ts';
import { findSbcl, sbclVersion } from './image/process/sbcl.ts';
import type { Sandbox } from './image/sandbox/sandbox.ts';

type Check = { ok: boolean; text: string };

/** Checks the set-up of OPTIONS, SANDBOX and CONFIG. Prints a line for each check and how to set up the clients, and
 *  returns the exit code: 0, or 1 when something needed fails. */
export async function diagnose(
  options: SbclOptions,
  sandbox: Sandbox,
  config: Config,
  print: (text: string) => void,
): Promise<number> {
  const checks = [
    checkNode(),
    await checkSandbox(sandbox, config),
    ...(await checkImage(options)),
    checkCache(options),
    ...checkLibraries(config),
  ];
  for (const { ok, text } of checks) print(`${ok ? 'ok  ' : 'FAIL'} ${text}`);
  print(`\n${clientConfigurations(join(import.meta.dirname, 'live-lisp.js'))}`);
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { ok, text: `node ${process.versions.node}${ok ? '' : ': live-lisp needs 20.19 or newer'}` };
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
  const checks: Check[] = [{ ok: true, text: `sbcl ${sbcl}: ${sbclVersion(sbcl)}` }];
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

function abilityChecks({ without, fallbacks }: { without: string[]; fallbacks: string[] }): Check[] {
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

function checkCache({ cacheFolder }: SbclOptions): Check {
  const usable = cacheUsable(cacheFolder);
  return {
    ok: true,
    text: usable
      ? `cache: ${cacheFolder}`
      : `cache: ${cacheFolder} cannot be written; each start compiles the agent, which takes some seconds`,
  };
}

function checkLibraries(config: Config): Check[] {
  const [first] = libraryManagers(config.root);
  const tree = searchesTree(config) ? ', and everything below it' : ' only';
  return [
    { ok: true, text: `ASDF looks in ${config.root}${tree}` },
    first === undefined
      ? { ok: true, text: 'Quicklisp, qlot, ocicl: none set up (none is needed)' }
      : {
          ok: true,
          text: `${first.name} is set up (${first.file}); ${config.quicklisp ? 'it is loaded' : '--quicklisp loads it'} into the image`,
        },
  ];
}

/** Returns how each MCP client is told to start SCRIPT. */
function clientConfigurations(script: string): string {
  const json = JSON.stringify({ command: 'node', args: [script] });
  return [
    `Claude Code:  claude mcp add live-lisp -- node ${shellWord(script)}`,
    `Codex:        codex mcp add live-lisp -- node ${shellWord(script)}`,
    `VS Code:      code --add-mcp ${shellWord(JSON.stringify({ name: 'live-lisp', command: 'node', args: [script] }))}`,
    `Cursor:       in .cursor/mcp.json: {"mcpServers": {"live-lisp": ${json}}}`,
  ].join('\n');
}

/** Returns TEXT as one word of a shell's command line. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
