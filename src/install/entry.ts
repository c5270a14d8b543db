// Recognizes an entry that install wrote, and computes what the entry should be.

import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Data, isData, type Launch } from './settings.ts';

/** File name of our script, which marks an entry as ours. */
export const SCRIPT_NAME = 'live-lisp.js';

/** State of a client's entry. 'other copy': install wrote it, but for another script or Node. 'foreign': written in a
 *  way that install does not use. */
export type Standing = 'absent' | 'same' | 'other copy' | 'foreign';

/** Returns the words of the command that ENTRY starts; none when it has no command. */
export function commandLine(entry: unknown): string[] {
  if (!isData(entry)) return [];
  const { command, args } = entry;
  const words: unknown[] = Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])];
  if (typeof words[0] !== 'string' || words[0] === '') return [];
  return words.filter((word) => typeof word === 'string');
}

/** True when LINE, the words of our command, never runs code without a sandbox. */
export function insistsOnSandbox(line: readonly string[]): boolean {
  return /(?:^| )--sandbox[ =](?:on|strict)(?: |$)/.test(line.join(' ')) && !line.includes('--no-sandbox');
}

/** True when LINE has a flag for the sandbox. */
export function saysSandbox(line: readonly string[]): boolean {
  return line.some((word) => /^--(?:no-)?sandbox(?:=|$)/.test(word));
}

/** Returns LAUNCH for a client that asks nobody, with the flag by which no image starts without a sandbox. */
export function trustedLaunch({ node, args: [script = ''] }: Launch): Launch {
  return { node, args: [script, '--sandbox', 'on'] };
}

/** Compares FOUND, a client's entry, with the entry that ENTRY makes of LAUNCH. Returns its state, and the entry that
 *  it should be: flags after our script and all other members stay. */
export function judge(
  found: unknown,
  entry: (launch: Launch) => Data,
  { node, args: [script = '', ...more] }: Launch,
): { standing: Standing; wanted: Data } {
  const fresh = entry({ node, args: [script, ...more] });
  if (found === undefined) return { standing: 'absent', wanted: fresh };
  const [, old = '', ...flags] = commandLine(found);
  if (!isData(found) || basename(old) !== SCRIPT_NAME) return { standing: 'foreign', wanted: fresh };
  const all = saysSandbox(flags) ? flags : [...more, ...flags];
  const wanted = { ...found, ...entry({ node, args: [script, ...all] }) };
  return { standing: isDeepStrictEqual(found, wanted) ? 'same' : 'other copy', wanted };
}
