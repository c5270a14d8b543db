// Renders notes about accesses that the sandbox refused, and how a person can allow them.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isThere, realPathOf, UnresponsiveFolderError, withFileTimeout } from '../files/answering.ts';
import { visibleName } from '../visible.ts';

/** Describes what code in the image may do in the sandbox. */
export interface SandboxLimits {
  /** The folder in which relative paths start. */
  root: string;
  writable: readonly string[];
  /** True when code in the sandbox has no network. */
  strict: boolean;
  isInside: (folder: string, path: string) => boolean;
  /** Returns true when the sandbox hides the file `real`, a real path. */
  hides: (real: string) => boolean;
}

/** Matches the system's message for a write to a read-only mount. */
const READ_ONLY = /Read-only file system/;
/** Matches the system's message for a rename from one mount to another. */
const CROSSING = /Invalid cross-device link/;
/** Matches the system's message when a mount point is to be renamed or removed. */
const BUSY = /Device or resource busy/;
/** Matches the messages for an access to a hidden file. */
const UNSEEN = /Permission denied|No such file or directory|does not exist/;
/** Matches the system's message when code in the sandbox opens a Unix socket. */
const NO_SOCKET = /Address family not supported by protocol/;
/** Matches the messages for a connection when there is no network. */
const NO_NETWORK = /Network is unreachable|Temporary failure in name resolution/;

/** Returns a note when TEXT, an answer, contains an error that the sandbox caused; else undefined. */
export async function refusedBySandbox(text: string, limits: SandboxLimits): Promise<string | undefined> {
  if (READ_ONLY.test(text)) return writeText(text, limits);
  if (namesWritable(CROSSING, text, limits))
    return `Note: in the sandbox, each writable folder is a separate file system, and so is ${HELD}. Files cannot be renamed from one to another. Write the temporary file beside its target, or copy it and delete the original.`;
  if (namesWritable(BUSY, text, limits))
    return `Note: in the sandbox, code cannot move or remove ${HELD}. Change its contents, or do this outside of the image.`;
  if (NO_SOCKET.test(text))
    return 'Note: the sandbox refused a Unix socket, because it could lead to other programs of the user. Use TCP on 127.0.0.1, or ask the user to start the server with --no-sandbox.';
  if (limits.strict && NO_NETWORK.test(text))
    return 'Note: the sandbox has no network, because the server was started with --sandbox strict. Ask the user to start it without this option.';
  return unseenText(text, limits);
}

const HELD = 'a folder with a repository, keys or settings of programs';

/** Returns the warning that FILE, from which programs outside the sandbox read settings or commands, is new in the
 * workspace. */
export function newcomerText(file: string): string {
  return `Note: ${visibleName(file)} is new. Programs outside of the sandbox take commands or settings from it, and code in the sandbox may have created it. Unless you created it with your own tools, ask the user to check it before anything else runs there.`;
}

/** Matches a path in quotes, or a word before a colon. An apostrophe inside a word does not begin a quote. */
const PATH = /"([^"\n]+)"|(?<!\w)'([^'\n]+)'|‘([^‘’\n]+)’|(?<![^\s"'‘])([^\s"'‘]+)(?=:(?:\s|$))/g;
/** Matches the beginning of the answer when an evaluation failed. */
const HEAD = /^Error: /;

/** Returns the last path that TEXT names before its match of MESSAGE, as an absolute path; undefined when it names
 * none. A relative path in TEXT is relative to ROOT. */
function pathBefore(message: RegExp, text: string, root: string): string | undefined {
  const body = text.replace(HEAD, '');
  const place = body.search(message);
  const [, ...groups] = (place >= 0 && [...body.slice(0, place).matchAll(PATH)].at(-1)) || [];
  const named = groups.find((group) => group !== undefined);
  return named === undefined ? undefined : resolve(root, named);
}

/** Returns true when TEXT, an answer, matches the error message MESSAGE, and code in the sandbox may write to the path
 * that TEXT names last before this message. */
function namesWritable(message: RegExp, text: string, { root, writable, isInside }: SandboxLimits): boolean {
  const path = pathBefore(message, text, root);
  return path !== undefined && writable.some((area) => isInside(area, path));
}

/** Returns a note about a file that does not exist or cannot be accessed according to TEXT, if the sandbox hides this
 * file; else undefined. */
async function unseenText(text: string, { root, hides }: SandboxLimits): Promise<string | undefined> {
  const path = pathBefore(UNSEEN, text, root);
  if (path === undefined || !hides(await realPathOf(path))) return undefined;
  if (!(await isThere(path).catch(() => false))) return undefined;
  return `Note: the sandbox hides ${visibleName(path)} from code in the image. Do without it, or ask the user for a copy in the workspace, or to start the server with --no-sandbox.`;
}

/** TEXT says that a write was refused. Returns a note about this, or undefined when this process cannot write there
 * either, because then the system and not the sandbox refused the write. */
async function writeText(text: string, limits: SandboxLimits): Promise<string | undefined> {
  const path = pathBefore(READ_ONLY, text, limits.root);
  const folder = path === undefined ? undefined : await existingFolder(path);
  if (folder !== undefined && !(await canWrite(folder))) return undefined;
  const writes = `Code in the image may write only in ${limits.writable.map(visibleName).join(', ')}`;
  if (folder === undefined || folder === '/')
    return `Note: the sandbox refused a write. ${writes}. To allow it, the user can start the server with --write DIR or with --no-sandbox.`;
  const shown = visibleName(folder);
  if (limits.writable.some((area) => limits.isInside(area, folder)))
    return `Note: the sandbox refused a write in ${shown}, because programs outside the sandbox take commands or settings from it. Change it outside of the image, or ask the user to start the server with --no-sandbox.`;
  return `Note: the sandbox refused a write in ${shown}. ${writes}. To allow it, the user can start the server with --write ${shown} or with --no-sandbox.`;
}

/** Returns the nearest folder above PATH that exists. A folder whose file system does not answer counts as existing. */
async function existingFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const there = await isThere(folder).catch(() => true);
  return there || folder === path ? folder : existingFolder(folder);
}

/** Returns true when this process can write to FOLDER, and also when the file system of FOLDER does not answer. */
async function canWrite(folder: string): Promise<boolean> {
  return withFileTimeout(folder, () => access(folder, constants.W_OK)).then(
    () => true,
    (error: unknown) => error instanceof UnresponsiveFolderError,
  );
}
