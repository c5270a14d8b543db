// Decides what a model is told when the sandbox refused what code did: what, where, and how a person allows it.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { answered, isThere, UnansweredError } from '../files/answering.ts';
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
export async function refusedBySandbox(text: string, limits: SandboxLimits): Promise<string | undefined> {
  const refused = READ_ONLY.exec(text);
  if (refused !== null) return writeText(text.slice(0, refused.index), limits);
  if (NO_SOCKET.test(text))
    return 'Note: the sandbox refused a Unix socket, because it could lead to other programs of the user. Use TCP on 127.0.0.1, or ask the user to start the server with --no-sandbox.';
  if (limits.strict && NO_NETWORK.test(text))
    return 'Note: the sandbox has no network, because the server was started with --sandbox strict. Ask the user to start it without that.';
  return undefined;
}

/** Returns the notice that FILE, which programs outside of the sandbox obey, has appeared in the workspace. */
export function newcomerText(file: string): string {
  return `Note: ${visibleName(file)} is new. Programs outside of the sandbox obey it, and code in the sandbox can have made it. Unless you made it with your own tools, have the user look at it before anything else runs there.`;
}

/** A path in quotes, or a word before a colon. */
const PATH = /["'‘]([^"'’\n]+)["'’]|([^\s"'‘]+)(?=:(?:\s|$))/g;

/** Returns the note for a write that was refused, of which BEFORE was said last. */
async function writeText(before: string, limits: SandboxLimits): Promise<string | undefined> {
  const [, quoted, word] = [...before.matchAll(PATH)].at(-1) ?? [];
  const named = quoted ?? word;
  const folder = named === undefined ? undefined : await existingFolder(resolve(limits.root, named));
  // Then it is the system that refuses it.
  if (folder !== undefined && !(await canWrite(folder))) return undefined;
  const writes = `Code in the image writes in ${limits.writable.map(visibleName).join(', ')}`;
  if (folder === undefined || folder === '/')
    return `Note: the sandbox refused a write. ${writes}. A person can add a folder when they start the server (--write DIR), or start it with --no-sandbox.`;
  const shown = visibleName(folder);
  if (limits.writable.some((area) => limits.isInside(area, folder)))
    return `Note: the sandbox refused a write in ${shown}, because programs outside the sandbox obey what is there. Change it outside of the image, or ask the user to start the server with --no-sandbox.`;
  return `Note: the sandbox refused a write in ${shown}. ${writes}. A person can add it when they start the server (--write ${shown}), or start it with --no-sandbox.`;
}

/** Returns the folder of PATH, or the next one above that is there. One that does not answer is taken to be. */
async function existingFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const there = await isThere(folder).catch(() => true);
  return there || folder === path ? folder : existingFolder(folder);
}

/** Returns whether this process can write in FOLDER. What does not answer can refuse nothing. */
async function canWrite(folder: string): Promise<boolean> {
  return answered(folder, () => access(folder, constants.W_OK)).then(
    () => true,
    (error: unknown) => error instanceof UnansweredError,
  );
}
