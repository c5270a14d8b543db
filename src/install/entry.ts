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

/** Returns how FOUND, what a client has, stands to what ENTRY makes of LAUNCH, and what it should be. Flags behind our
 *  script stay, and so does all else in it. */
export function judge(
  found: unknown,
  entry: (launch: Launch) => Data,
  { node, args: [script = ''] }: Launch,
): { standing: Standing; wanted: Data } {
  const fresh = entry({ node, args: [script] });
  if (found === undefined) return { standing: 'absent', wanted: fresh };
  const [, old = '', ...flags] = commandLine(found);
  if (!isData(found) || basename(old) !== SCRIPT_NAME) return { standing: 'foreign', wanted: fresh };
  const wanted = { ...found, ...entry({ node, args: [script, ...flags] }) };
  return { standing: isDeepStrictEqual(found, wanted) ? 'same' : 'other copy', wanted };
}
