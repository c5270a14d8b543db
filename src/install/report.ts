// Decides what is told of the clients: which there are, and what one of them has of live-lisp.

import { accessSync, constants, existsSync } from 'node:fs';
import { SetupError } from '../errors.ts';
import { CLIENTS, type Client, clientNamed, NAME, type Place } from './clients.ts';
import { apply } from './edit.ts';
import { commandLine, insistsOnSandbox } from './entry.ts';
import { readText } from './file.ts';
import type { ClientName, Scope } from './names.ts';
import { findProgram, shellLine } from './program.ts';
import type { Launch } from './settings.ts';

export interface Finding {
  ok: boolean;
  text: string;
}

function isThere(client: Client, place: Place): boolean {
  return (
    findProgram(client.program, place) !== undefined || client.traces(place).some((path) => existsSync(path))
  );
}

/** Returns which clients are found in PLACE, and what to type to set them up. */
export function clientList(place: Place): string {
  const width = Math.max(...CLIENTS.map(({ title }) => title.length));
  const line = ({ name, title }: Client) => `  ${title.padEnd(width)}  live-lisp install --client ${name}`;
  const found = CLIENTS.filter((client) => isThere(client, place));
  const others = CLIENTS.filter((client) => !found.includes(client)).map(({ name }) => name);
  return [
    found.length === 0 ? 'No client is found here.' : 'Clients that are found here, and what sets each up:',
    ...found.map(line),
    ...(others.length === 0 ? [] : [`Not found: ${others.join(', ')}.`]),
    '--dry-run shows what would be written; --scope project is for this folder only.',
  ].join('\n');
}

/** Returns what the client NAMED has of live-lisp in PLACE, in each scope. What install, with LAUNCH, would have to write
 *  anew is a finding that is not ok. */
export async function clientFindings(named: ClientName, place: Place, launch: Launch): Promise<Finding[]> {
  const client = clientNamed(named);
  if (client === undefined || client.scopes.length === 0) {
    return [{ ok: true, text: `${client?.title}: its configuration is Lisp, which is not read` }];
  }
  const program = findProgram(client.program, place);
  const runs = program === undefined ? 'no program of it on PATH' : `program ${program}`;
  const perScope = await Promise.all(
    client.scopes.map((scope) => scopeFindings(client, scope, place, launch)),
  );
  const some = perScope.some(({ configured }) => configured);
  const missing = `${client.title} starts no live-lisp: live-lisp install --client ${named} sets it up`;
  return [
    { ok: true, text: `${client.title}: ${runs}` },
    ...perScope.flatMap(({ findings }) => findings),
    ...(some ? [] : [{ ok: false, text: missing }]),
  ];
}

async function scopeFindings(client: Client, scope: Scope, place: Place, launch: Launch) {
  const settings = client.settings({ ...place, trust: true }, scope);
  const [entry] = settings;
  try {
    const states = await Promise.all(settings.map((each) => apply(each, readText(each.file), launch)));
    const found = states[0]?.found;
    if (found === undefined) {
      return {
        configured: false,
        findings: [{ ok: true, text: `${scope}: no entry ${NAME} in ${entry?.file}` }],
      };
    }
    const line = commandLine(found);
    const plain = client.settings({ ...place, trust: false }, scope).slice(1);
    const looks = await Promise.all(plain.map((each) => apply(each, readText(each.file), launch)));
    const asksAlways = looks.some(({ standing }) => standing !== 'same');
    const granted = states.slice(1).some(({ standing }) => standing === 'same') || approves(found);
    const head = { ok: true, text: `${scope}: ${entry?.file} starts ${shellLine(line)}` };
    const consent = client.consent?.[scope];
    const told = consent === undefined ? [] : [{ ok: true, text: consent }];
    const approval = client.asks
      ? [approvalFinding(client, granted ? 'nothing' : asksAlways ? 'all' : 'code', insistsOnSandbox(line))]
      : [];
    return { configured: true, findings: [head, ...wordFindings(line), ...told, ...approval] };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { configured: false, findings: [{ ok: false, text: error.message }] };
  }
}

/** Returns what is wrong with the program and the script of LINE, which is a command. */
function wordFindings([node = '', script = '']: readonly string[]): Finding[] {
  const findings: Finding[] = [];
  if (!node.startsWith('/')) {
    findings.push({
      ok: true,
      text: `${node || 'its command'} is no path: a client with windows can have another PATH`,
    });
  } else if (!canRun(node))
    findings.push({ ok: false, text: `${node} cannot be run: run live-lisp install again` });
  if (script.startsWith('/') && !existsSync(script)) {
    findings.push({ ok: false, text: `${script} is not there: run live-lisp install again` });
  }
  return findings;
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether FOUND, an entry of live-lisp in the settings of Codex or Gemini CLI, lets every tool run without asking. */
function approves(found: unknown): boolean {
  const { default_tools_approval_mode: mode, trust } = found as { [key: string]: unknown };
  return mode === 'approve' || trust === true;
}

/** Returns what is said of CLIENT, which ASKS its user before a tool runs. BOXED says that no code runs without a sandbox. */
function approvalFinding({ title, name }: Client, asks: 'nothing' | 'code' | 'all', boxed: boolean): Finding {
  const texts = {
    all: `${title} asks before each tool, also before those that only look: run live-lisp install --client ${name} again`,
    code: `${title} asks before code runs`,
    nothing: boxed
      ? `${title} asks before none of its tools; code runs in a sandbox only`
      : `${title} asks before none of its tools, and code can run without a sandbox. To change that: live-lisp uninstall --client ${name}, then install it again, with --trust for code without questions in a sandbox only`,
  };
  return { ok: true, text: texts[asks] };
}
