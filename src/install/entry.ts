// Recognizes entries that `live-lisp install` wrote, and computes the entry that it writes.

import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../json.ts';
import type { Data, Launch } from './settings.ts';

/** File name of the script of live-lisp. An entry that starts a script with this name is an entry of live-lisp. */
export const SCRIPT_NAME = 'live-lisp.js';

/** State of an entry. 'other copy': install wrote it for another script or another Node. 'foreign': somebody else wrote
 * it. */
export type Standing = 'absent' | 'same' | 'other copy' | 'foreign';

/** Returns the command in ENTRY as a list of words; [] when ENTRY has no command. */
export function commandLine(entry: unknown): string[] {
  if (!isObject(entry)) return [];
  const { command, args } = entry;
  const words: unknown[] = Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])];
  if (typeof words[0] !== 'string' || words[0] === '') return [];
  return words.filter((word) => typeof word === 'string');
}

/** Returns true when LINE, the words of a command, lets code run only in a sandbox. */
export function insistsOnSandbox(line: readonly string[]): boolean {
  return /(?:^| )--sandbox[ =](?:on|strict)(?: |$)/.test(line.join(' ')) && !line.includes('--no-sandbox');
}

/** Returns the flags in LINE that concern the sandbox, with their values, separated by spaces; '' when there are
 * none. */
export function sandboxFlags(line: readonly string[]): string {
  const flags = line.flatMap((word, index) => {
    if (word === '--sandbox') return [word, ...line.slice(index + 1, index + 2)];
    return /^--(?:no-sandbox$|sandbox=)/.test(word) ? [word] : [];
  });
  return flags.join(' ');
}

/** Returns LAUNCH with a flag that requires a sandbox, for a client that does not ask its user. */
export function trustedLaunch({ node, args: [script = ''] }: Launch): Launch {
  return { node, args: [script, '--sandbox', 'on'] };
}

/** Compares FOUND, the present entry in a client's configuration, with the entry that install would write. The function
 * ENTRY makes the latter from a Launch, the third argument. Returns the state of FOUND, and the entry to write. That
 * entry keeps the flags that follow the script in FOUND, and the members of FOUND that ENTRY does not set. */
export function compareEntry(
  found: unknown,
  entry: (launch: Launch) => Data,
  { node, args: [script = '', ...more] }: Launch,
): { standing: Standing; wanted: Data } {
  const fresh = entry({ node, args: [script, ...more] });
  if (found === undefined) return { standing: 'absent', wanted: fresh };
  const [, old = '', ...flags] = commandLine(found);
  if (!isObject(found) || basename(old) !== SCRIPT_NAME) return { standing: 'foreign', wanted: fresh };
  const all = sandboxFlags(flags) !== '' ? flags : [...more, ...flags];
  const wanted = { ...found, ...entry({ node, args: [script, ...all] }) };
  return { standing: isDeepStrictEqual(found, wanted) ? 'same' : 'other copy', wanted };
}
