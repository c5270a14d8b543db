// Determines whether the user's ~/.sbclrc does more than set up a library manager. Images do not load this file.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { readIfRegular } from './files/regular.ts';

const INIT_FILE = '.sbclrc';
const LIMIT = 1024 * 1024;
const MANAGER = /quicklisp|qlot|ocicl/i;

/** Returns `~/.sbclrc` if this file exists, does more than set up a library manager, and is not INIT, the file that
 * images load. Otherwise returns undefined. */
export function initFileNotLoaded(init: string | undefined): string | undefined {
  const path = join(homedir(), INIT_FILE);
  if (init === path) return undefined;
  const text = readIfRegular(path, { limit: LIMIT })?.octets.toString() ?? '';
  return topLevelForms(text).some((form) => !MANAGER.test(form)) ? `~/${INIT_FILE}` : undefined;
}

/** Returns the parts of TEXT that begin with ( or # in the first column. Lines with only a comment are left out. */
function topLevelForms(text: string): string[] {
  return text
    .replace(/^\s*;.*$/gm, '')
    .split(/^(?=[(#])/m)
    .filter((form) => /^[(#]/.test(form));
}
