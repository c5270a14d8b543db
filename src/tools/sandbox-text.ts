// Renders what the sandbox refused to code in the image: what, where, and how a person can allow it.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isThere, UnansweredError, withFileTimeout } from '../files/answering.ts';
import { visibleName } from '../visible.ts';

/** The limits of the sandbox. */
export interface SandboxLimits {
  /** The folder that relative paths start at. */
  root: string;
  /** The folders that code may write to. */
  writable: readonly string[];
  /** True when there is no network. */
  strict: boolean;
  /** True when PATH is in FOLDER. */
  isInside: (folder: string, path: string) => boolean;
}

/** Error messages of the system: a write to a read-only mount, a Unix socket, and no network. */
const READ_ONLY = /Read-only file system/;
const NO_SOCKET = /Address family not supported by protocol/;
const NO_NETWORK = /Network is unreachable|Temporary failure in name resolution/;

/** Returns a note when TEXT, an answer, shows that the sandbox with LIMITS refused something; else undefined. */
export async function refusedBySandbox(text: string, limits: SandboxLimits): Promise<string | undefined> {
  const refused = READ_ONLY.exec(text);
  if (refused !== null) return writeText(text.slice(0, refused.index), limits);
  if (NO_SOCKET.test(text))
    return 'Note: the sandbox refused a Unix socket, because it could lead to other programs of the user. Use TCP on 127.0.0.1, or ask the user to start the server with --no-sandbox.';
  if (limits.strict && NO_NETWORK.test(text))
    return 'Note: the sandbox has no network, because the server was started with --sandbox strict. Ask the user to start it without that.';
  return undefined;
}

/** Returns the notice that FILE has appeared in the workspace: programs outside of the sandbox obey such files. */
export function newcomerText(file: string): string {
  return `Note: ${visibleName(file)} is new. Programs outside of the sandbox obey it, and code in the sandbox can have made it. Unless you made it with your own tools, have the user look at it before anything else runs there.`;
}

/** A path in quotes, or a word before a colon. */
const PATH = /["'‘]([^"'’\n]+)["'’]|([^\s"'‘]+)(?=:(?:\s|$))/g;

/** Returns the note for a refused write, whose target is the last path in BEFORE, the text before the error message.
 *  Returns undefined when this process cannot write there either: then the system refused, not the sandbox. */
async function writeText(before: string, limits: SandboxLimits): Promise<string | undefined> {
  const [, quoted, word] = [...before.matchAll(PATH)].at(-1) ?? [];
  const named = quoted ?? word;
  const folder = named === undefined ? undefined : await existingFolder(resolve(limits.root, named));
  if (folder !== undefined && !(await canWrite(folder))) return undefined;
  const writes = `Code in the image writes in ${limits.writable.map(visibleName).join(', ')}`;
  if (folder === undefined || folder === '/')
    return `Note: the sandbox refused a write. ${writes}. A person can add a folder when they start the server (--write DIR), or start it with --no-sandbox.`;
  const shown = visibleName(folder);
  if (limits.writable.some((area) => limits.isInside(area, folder)))
    return `Note: the sandbox refused a write in ${shown}, because programs outside the sandbox obey what is there. Change it outside of the image, or ask the user to start the server with --no-sandbox.`;
  return `Note: the sandbox refused a write in ${shown}. ${writes}. A person can add it when they start the server (--write ${shown}), or start it with --no-sandbox.`;
}

/** Returns the nearest existing folder above PATH. A folder whose file system does not answer counts as existing. */
async function existingFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const there = await isThere(folder).catch(() => true);
  return there || folder === path ? folder : existingFolder(folder);
}

/** True when this process can write to FOLDER. A file system that does not answer refuses nothing. */
async function canWrite(folder: string): Promise<boolean> {
  return withFileTimeout(folder, () => access(folder, constants.W_OK)).then(
    () => true,
    (error: unknown) => error instanceof UnansweredError,
  );
}
