// Decides whether the entry that a client has is one that install writes, and what it should be.

import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Data, isData, type Launch } from './settings.ts';

/** The name of our script, by which an entry of ours is known. */
export const SCRIPT_NAME = 'live-lisp.js';

/** What a client has where an entry of ours would be. Another copy is one that install wrote for another script or Node;
 *  a foreign one is written in another way. */
export type Standing = 'absent' | 'same' | 'other copy' | 'foreign';

/** Returns the words of the command that ENTRY starts. */
export function commandLine(entry: unknown): string[] {
  if (!isData(entry)) return [];
  const { command, args } = entry;
  const words = Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])];
  return words.filter((word) => typeof word === 'string');
}

/** Returns whether the words of LINE, a command that starts us, let no code run without a sandbox. */
export function insistsOnSandbox(line: readonly string[]): boolean {
  return /(?:^| )--sandbox[ =](?:on|strict)(?: |$)/.test(line.join(' ')) && !line.includes('--no-sandbox');
}

/** Returns whether the words of LINE say how code is locked in. */
export function saysSandbox(line: readonly string[]): boolean {
  return line.some((word) => /^--(?:no-)?sandbox(?:=|$)/.test(word));
}

/** Returns LAUNCH as it is where a client asks nobody: it starts no image without a sandbox. */
export function trustedLaunch({ node, args: [script = ''] }: Launch): Launch {
  return { node, args: [script, '--sandbox', 'on'] };
}

/** Returns how FOUND, what a client has, stands to what ENTRY makes of LAUNCH, and what it should be. Flags behind our
 *  script stay, and so does all else in it. */
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
