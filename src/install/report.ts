// Decides what is told of the clients: which there are, and what one of them has of live-lisp.

import { accessSync, constants, existsSync } from 'node:fs';
import { SetupError } from '../errors.ts';
import { CLIENTS, type Client, clientNamed, NAME, type Place } from './clients.ts';
import { apply } from './edit.ts';
import { commandLine } from './entry.ts';
import { readText } from './file.ts';
import type { ClientName, Scope } from './names.ts';
import { findProgram, shellLine } from './program.ts';
import type { Launch, Setting } from './settings.ts';

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
  const settings = client.settings(place, scope);
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
    const rest = settings
      .slice(1)
      .map((each, index) => permissionFinding(each, states[index + 1]?.standing === 'same'));
    const head = { ok: true, text: `${scope}: ${entry?.file} starts ${shellLine(line)}` };
    const consent = client.consent?.[scope];
    const told = consent === undefined ? [] : [{ ok: true, text: consent }];
    const approval = approvalFinding(found);
    return { configured: true, findings: [head, ...wordFindings(line), ...told, ...approval, ...rest] };
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

function permissionFinding({ file, path }: Setting, given: boolean): Finding {
  const text = given
    ? `its tools run without a question of the client (${file})`
    : `the client asks before each tool, and refuses where nobody answers: ${path.join('.')} in ${file} does not allow them`;
  return { ok: true, text };
}

/** Returns what the entry FOUND says of questions of the client, for clients that keep it there. */
function approvalFinding(found: unknown): Finding[] {
  const { default_tools_approval_mode: mode, trust } = found as { [key: string]: unknown };
  const given = mode === 'approve' || trust === true;
  return given ? [{ ok: true, text: 'its tools run without a question of the client' }] : [];
}
