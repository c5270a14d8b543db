// Reports the installed clients (for the command install without --client), and the state of live-lisp in one of them
// (for doctor --client).

import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { SetupError } from '../errors.ts';
import { isObject } from '../json.ts';
import { isExecutable } from '../paths.ts';
import { visibleLine } from '../visible.ts';
import { asksAlways, grantOf, valueIn } from './asking.ts';
import {
  CLIENTS,
  type Client,
  clientNamed,
  ENTRY_NAME,
  type InstallContext,
  plainSettings,
  trustingSettings,
} from './clients.ts';
import { commandLine, insistsOnSandbox, trustedLaunch } from './entry.ts';
import { greetingOf } from './handshake.ts';
import type { ClientName, Scope } from './names.ts';
import { PLUGIN_COMMAND, pluginOf } from './plugins.ts';
import { findProgram, shellLine } from './program.ts';
import type { Launch } from './settings.ts';
import { TRUST } from './trust.ts';

export interface Finding {
  ok: boolean;
  text: string;
}

/** Returns FINDING as text. Its further lines are indented, so that they do not look like other findings. */
export function findingText({ ok, text }: Finding): string {
  return `${ok ? 'ok  ' : 'FAIL'} ${text.replace(/\n(?=.)/g, '\n     ')}`;
}

/** Returns a list of the clients that are installed, each with the command that sets it up. */
export function clientList(context: InstallContext): string {
  const width = Math.max(...CLIENTS.map(({ title }) => title.length));
  const line = ({ name, title }: Client) => `  ${title.padEnd(width)}  live-lisp install --client ${name}`;
  const found = CLIENTS.filter((client) => isThere(client, context));
  const others = CLIENTS.filter((client) => !found.includes(client)).map(({ name }) => name);
  return [
    found.length === 0
      ? 'No client is found here.'
      : 'Clients found here, and the command that sets each up:',
    ...found.map(line),
    ...(others.length === 0 ? [] : [`Not found: ${others.join(', ')}.`]),
    '--dry-run shows what would be written; --scope project is for this folder only.',
  ].join('\n');
}

function isThere(client: Client, context: InstallContext): boolean {
  return (
    findProgram(client.program, context) !== undefined ||
    client.installedPaths(context).some((path) => existsSync(path))
  );
}

/** Returns findings about live-lisp in the client NAMED: its entry in each scope, its plugin, and whether both start.
 * For a client without scopes, such as Emacs, says only that its configuration is not read. A finding that is not ok
 * contains advice for the user. LAUNCH is the command that install would write. */
export async function clientFindings(
  named: ClientName,
  context: InstallContext,
  launch: Launch,
): Promise<Finding[]> {
  const client = clientNamed(named);
  if (client.scopes.length === 0) {
    return [
      { ok: true, text: `${client.title}: its configuration is Lisp code, which doctor does not read` },
    ];
  }
  const program = findProgram(client.program, context);
  const runs = program === undefined ? 'its program is not on PATH' : `program ${program}`;
  const parts = await Promise.all([
    ...client.scopes.map((spot) => entryFindings({ client, spot, context, launch })),
    ...(client.local === undefined ? [] : [entryFindings({ client, spot: 'local', context, launch })]),
    pluginFindings(client, context),
  ]);
  return [
    { ok: true, text: `${client.title}: ${runs}` },
    ...parts.flatMap(({ findings }) => findings),
    ...countFindings(client, parts),
  ];
}

/** Findings about an entry or a plugin. `entry` is the entry's file, and `plugin` the plugin's name, if it starts
 * live-lisp. */
interface StarterFindings {
  entry?: string;
  plugin?: string;
  findings: Finding[];
}

/** Returns a finding when none of STARTERS starts live-lisp in CLIENT, or when both an entry and a plugin do. */
function countFindings({ title, name }: Client, starters: readonly StarterFindings[]): Finding[] {
  const entry = starters.find((each) => each.entry !== undefined)?.entry;
  const plugin = starters.find((each) => each.plugin !== undefined)?.plugin;
  if (entry === undefined && plugin === undefined) {
    const text = `${title} does not start live-lisp: live-lisp install --client ${name} sets it up`;
    return [{ ok: false, text }];
  }
  if (entry === undefined || plugin === undefined) return [];
  const text = `${title} starts two servers, each with its own image: one by ${plugin}, one by ${entry}. Run live-lisp uninstall --client ${name}, or remove ${plugin} in ${title}`;
  return [{ ok: false, text }];
}

/** A place where `client` can have an entry: `spot` is a scope, or 'local' for the entry that the client's program
 * writes. `launch` is the command that install would write there. */
interface EntryPlace {
  client: Client;
  spot: Scope | 'local';
  context: InstallContext;
  launch: Launch;
}

function scopeOf({ spot }: EntryPlace): Scope {
  // The client writes a `local` entry into a file of the user, not of the project.
  return spot === 'local' ? 'user' : spot;
}

/** Returns findings about the entry at PLACE. */
async function entryFindings(place: EntryPlace): Promise<StarterFindings> {
  const { client, spot, context } = place;
  // The first of a client's settings is the entry that starts the server.
  const entry = spot === 'local' ? client.local?.(context) : client.settings(context, spot)[0];
  if (entry === undefined) return { findings: [] };
  return orUnreadable(async () => {
    const found = await valueIn(entry);
    if (found === undefined) {
      const none = { ok: true, text: `${spot}: no entry ${ENTRY_NAME} in ${entry.file}` };
      return { findings: spot === 'local' ? [] : [none] };
    }
    const line = commandLine(found);
    if (line.length === 0) {
      const text = `${spot}: the entry ${ENTRY_NAME} in ${entry.file} has no command that starts live-lisp. Remove that entry by hand, then: live-lisp install --client ${client.name} --scope ${scopeOf(place)}`;
      return { findings: [{ ok: false, text }] };
    }
    const remedy =
      spot === 'local' ? ` (${client.program} mcp remove --scope local ${ENTRY_NAME} takes that out)` : '';
    const findings = [
      { ok: true, text: `${spot}: ${entry.file} starts ${shellLine(line)}${remedy}` },
      ...(await trialFindings(place, found, line)),
      ...(client.asks ? [await approvalFinding(place, insistsOnSandbox(line))] : []),
    ];
    return { entry: entry.file, findings };
  });
}

/** Returns findings about LINE, the command of the entry FOUND at PLACE. Starts the command if its programs exist.
 * A project can have put any command into its file. So doctor starts only an entry of the user, an entry that the client
 * trusts, and one that is exactly what install writes. */
async function trialFindings(place: EntryPlace, found: unknown, line: readonly string[]): Promise<Finding[]> {
  const { client, context } = place;
  const scope = scopeOf(place);
  // TRUST lacks the clients whose decision about a project cannot be read. Their project entries are not trusted here.
  const readDistrust = TRUST[client.name];
  const distrust = await readDistrust?.(context, scope);
  const isTrusted = scope === 'user' || (readDistrust !== undefined && distrust === undefined);
  const programs = programFindings(line);
  const findings = distrust === undefined ? programs : [...programs, { ok: false, text: distrust }];
  if (!programs.every(({ ok }) => ok)) return findings;
  const isStarted = isTrusted || isOwn(place, found);
  return [...findings, isStarted ? await greetingFinding(line, environmentOf(found), context) : UNTRIED];
}

async function orUnreadable(find: () => Promise<StarterFindings>): Promise<StarterFindings> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { findings: [{ ok: false, text: error.message }] };
  }
}

/** The finding for an entry that doctor did not start. */
const UNTRIED: Finding = {
  ok: true,
  text: 'this command was not tested, because it is not the one that install writes: the project may have changed it',
};

/** Returns true when FOUND is exactly the entry that install would write at PLACE, with --trust or without. */
function isOwn(place: EntryPlace, found: unknown): boolean {
  const { client, context, launch } = place;
  return [false, true].some((trust) => {
    const [setting] = client.settings({ ...context, trust }, scopeOf(place));
    const wanted = setting?.kind === 'entry' && setting.entry(trust ? trustedLaunch(launch) : launch);
    return isDeepStrictEqual(found, wanted);
  });
}

/** Returns the environment variables that ENTRY sets. OpenCode's entries have them in `environment`, those of other
 * clients in `env`. */
function environmentOf(entry: unknown): NodeJS.ProcessEnv {
  const { env, environment = env } = isObject(entry) ? entry : {};
  const variables = Object.entries(isObject(environment) ? environment : {});
  return Object.fromEntries(
    variables.filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}

async function greetingFinding(
  line: readonly string[],
  variables: NodeJS.ProcessEnv,
  context: InstallContext,
): Promise<Finding> {
  const greeting = await greetingOf(line, variables, context);
  return 'introduction' in greeting
    ? { ok: true, text: `it was started, and answers as ${greeting.introduction}` }
    : { ok: false, text: `the server does not work: ${greeting.failure}` };
}

function pluginFindings({ name, title }: Client, context: InstallContext): Promise<StarterFindings> {
  return orUnreadable(async () => {
    const plugin = await pluginOf(name, context);
    if (plugin === undefined) return { findings: [] };
    const head = { ok: true, text: `${title} has ${plugin}, which starts the command ${PLUGIN_COMMAND}` };
    const missing = {
      ok: false,
      text: `there is no command ${PLUGIN_COMMAND} on PATH: install the packed file with npm install --global FILE.tgz`,
    };
    const program = findProgram(PLUGIN_COMMAND, context);
    const tried = program === undefined ? missing : await greetingFinding([program], {}, context);
    return { plugin, findings: [head, tried] };
  });
}

/** Returns findings about the program and the script in a command line: whether the program can be run, and whether the
 * script exists. */
function programFindings([node = '', script = '']: readonly string[]): Finding[] {
  const findings: Finding[] = [];
  if (!node.startsWith('/')) {
    findings.push({
      ok: true,
      text: `the client looks up ${visibleLine(node)} on PATH, which can differ in a graphical client`,
    });
  } else if (!isExecutable(node))
    findings.push({ ok: false, text: `${visibleLine(node)} cannot be run: run live-lisp install again` });
  if (script.startsWith('/') && !existsSync(script)) {
    findings.push({ ok: false, text: `${visibleLine(script)} is not there: run live-lisp install again` });
  }
  return findings;
}

/** Returns a finding that says when the client of PLACE asks its user before it runs a tool. The client's settings
 * files for the scope of PLACE determine this. IS_SANDBOXED is true when code runs in a sandbox. */
async function approvalFinding(place: EntryPlace, isSandboxed: boolean): Promise<Finding> {
  const { client, context } = place;
  const { title, name } = client;
  const scope = scopeOf(place);
  const grant = await grantOf(trustingSettings(client, context, scope));
  if (grant !== undefined) {
    const { what, file } = grant;
    const text = isSandboxed
      ? `${title} runs every tool of live-lisp without asking you; code runs in a sandbox only`
      : `${title} runs every tool of live-lisp without asking you, and code can run without a sandbox. To be asked before code runs, remove ${what} from ${file}. To run code only in a sandbox: live-lisp install --client ${name} --scope ${scope} --trust`;
    return { ok: true, text };
  }
  const text = (await asksAlways(plainSettings(client, context, scope)))
    ? `${title} asks before each tool of live-lisp, even those that only read. To be asked only before code runs: live-lisp install --client ${name}`
    : `${title} asks before code runs`;
  return { ok: true, text };
}
