// Decides what a model is told when the sandbox refused what code did: what, where, and how a person allows it.

import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { visibleName } from '../visible.ts';

/** What code in the sandbox can do. */
export interface SandboxLimits {
  /** Where relative paths of it start. */
  root: string;
  /** The folders that it changes. */
  writable: readonly string[];
  /** Whether it has no network. */
  strict: boolean;
  /** Returns whether PATH is in FOLDER. */
  isInside: (folder: string, path: string) => boolean;
}

/** What the system says to a write that a mount refuses, to a Unix socket, and where there is no network. */
const READ_ONLY = /Read-only file system/;
const NO_SOCKET = /Address family not supported by protocol/;
const NO_NETWORK = /Network is unreachable|Temporary failure in name resolution/;

/** Returns the note to an answer with TEXT that tells what the sandbox with LIMITS refused; undefined when nothing in it
 *  was. */
export function refusedBySandbox(text: string, limits: SandboxLimits): string | undefined {
  const refused = READ_ONLY.exec(text);
  if (refused !== null) return writeText(text.slice(0, refused.index), limits);
  if (NO_SOCKET.test(text))
    return 'Note: the sandbox refused a Unix socket, because it could lead to other programs of the user. Use TCP on 127.0.0.1, or ask the user to start the server with --no-sandbox.';
  if (limits.strict && NO_NETWORK.test(text))
    return 'Note: the sandbox has no network, because the server was started with --sandbox strict. Ask the user to start it without that.';
  return undefined;
}

/** A path in quotes, or a word before a colon. */
const PATH = /["'‘]([^"'’\n]+)["'’]|([^\s"'‘]+)(?=:(?:\s|$))/g;

/** Returns the note for a write that was refused, of which BEFORE was said last. */
function writeText(before: string, limits: SandboxLimits): string | undefined {
  const [, quoted, word] = [...before.matchAll(PATH)].at(-1) ?? [];
  const named = quoted ?? word;
  const folder = named === undefined ? undefined : existingFolder(resolve(limits.root, named));
  // Then it is the system that refuses it.
  if (folder !== undefined && !canWrite(folder)) return undefined;
  const writes = `Code in the image writes in ${limits.writable.map(visibleName).join(', ')}`;
  if (folder === undefined || folder === '/')
    return `Note: the sandbox refused a write. ${writes}. A person can add a folder when they start the server (--write DIR), or start it with --no-sandbox.`;
  const shown = visibleName(folder);
  if (limits.writable.some((area) => limits.isInside(area, folder)))
    return `Note: the sandbox refused a write in ${shown}, because programs outside the sandbox obey what is there. Change it outside of the image, or ask the user to start the server with --no-sandbox.`;
  return `Note: the sandbox refused a write in ${shown}. ${writes}. A person can add it when they start the server (--write ${shown}), or start it with --no-sandbox.`;
}

/** Returns the folder of PATH, or the next one above that is there. */
function existingFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : existingFolder(folder);
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
