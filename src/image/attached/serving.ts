// Lists the images that serve live-lisp: those in which their users have loaded lisp/attach.lisp. Each of them
// has a file NAME.json, which describes it, beside its socket NAME.socket, in a folder of this user alone.

import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { connect } from 'node:net';
import { basename, isAbsolute, join } from 'node:path';
import { realPathOf } from '../../files/answering.ts';
import { readIfRegular } from '../../files/regular.ts';
import { isAlive } from '../../own.ts';
import { isInside } from '../../paths.ts';
import type { Served } from '../wire/served.ts';

/** The images that serve, and sentences that say why the folder is not used, if it is not. */
export interface Serving {
  images: Served[];
  refusal?: string;
}

/** Returns the images in FOLDER whose process lives. Deletes the files of those whose process has ended, as
 *  after a kill. Ignores all files that are not as an image writes them. */
export function servedImages(folder: string | undefined): Serving {
  if (folder === undefined) return { images: [] };
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return { images: [] };
    const refusal = folderRefusal(folder, stats);
    if (refusal !== undefined) return { images: [], refusal };
    return { images: readdirSync(folder).flatMap((file) => servedImage(folder, file) ?? []) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return { images: [] };
    const refusal = `The folder ${folder} of images that serve cannot be read (${code ?? String(error)}). Make it a folder of yours that only you can use: chmod 700.`;
    return { images: [], refusal };
  }
}

function folderRefusal(folder: string, stats: Stats): string | undefined {
  const of = `The folder ${folder} of images that serve is not used`;
  if (!stats.isDirectory())
    return `${of}: it is no folder. Remove it, and give the line in your image again.`;
  if (stats.uid !== process.geteuid?.())
    return `${of}: it belongs to another user. Have it removed, or name a folder of yours in LIVE_LISP_SERVING, for the image too.`;
  if ((stats.mode & 0o077) !== 0) return `${of}: other users can reach it. Change that: chmod 700 ${folder}`;
  return undefined;
}

/** Maximum number of octets of a file that describes an image. */
const FILE_LIMIT = 16 * 1024;

/** Returns the image that FILE in FOLDER describes; undefined when there is none, or its process has ended. */
function servedImage(folder: string, file: string): Served | undefined {
  const name = basename(file, '.json');
  const path = join(folder, file);
  if (name === file || !isImageName(name) || !isFileOfUser(path)) return undefined;
  const text = readIfRegular(path, { limit: FILE_LIMIT })?.octets.toString() ?? '';
  const socket = join(folder, `${name}.socket`);
  const served = parsedImage(text, name, socket);
  if (served === undefined) return undefined;
  if (isAlive(served.pid)) return isOwnSocket(socket) ? served : undefined;
  for (const left of [path, socket]) remove(left);
  return undefined;
}

/** True when NAME can be the name of an image: it is a file name and one word of a command line. */
export function isImageName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(name);
}

/** Returns the image that TEXT describes, which somebody told who can reach it: its name has PREFIX and a colon before
 *  it. Returns undefined when TEXT is not as an image writes it. */
export function toldImage(text: string, prefix: string): Served | undefined {
  const { name } = membersOf(text);
  const served = isImageName(String(name)) ? parsedImage(text, String(name), '') : undefined;
  return served && { ...served, name: `${prefix}:${served.name}` };
}

/** Returns the image with NAME and SOCKET that TEXT describes, or undefined when a member is missing or not as
 *  an image writes it. */
function parsedImage(text: string, name: string, socket: string): Served | undefined {
  const { name: ownName, pid, workspace, started, lisp } = membersOf(text);
  const valid =
    ownName === name &&
    Number.isSafeInteger(pid) &&
    isLine(workspace, 4096) &&
    isAbsolute(workspace) &&
    isLine(lisp, 100) &&
    typeof started === 'number' &&
    !Number.isNaN(new Date(started * 1000).getTime());
  if (!valid || Number(pid) <= 0) return undefined;
  return { name, pid: Number(pid), workspace: withoutSlash(workspace), socket, started, lisp };
}

/** Returns FOLDER without slashes at its end, as Lisp writes them. */
function withoutSlash(folder: string): string {
  return folder.replace(/(?<=.)\/+$/, '');
}

function membersOf(text: string): { readonly [name: string]: unknown } {
  try {
    return Object(JSON.parse(text)) as { readonly [name: string]: unknown };
  } catch {
    return {}; // Half a file, or none of an image.
  }
}

/** True when VALUE is a text of at most LIMIT characters without control characters. Texts of this file are
 *  shown to a model and on a terminal. */
function isLine(value: unknown, limit: number): value is string {
  return typeof value === 'string' && value.length <= limit && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(value);
}

/** True when PATH is a regular file of this user, not a link. Its mode does not matter, because the folder is
 *  closed to other users. */
function isFileOfUser(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.uid === process.geteuid?.();
}

function isOwnSocket(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() === true && stats.uid === process.geteuid?.();
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {} // It is a folder, which no image has made.
}

/** Returns those of IMAGES that serve the folder ROOT: their workspace is ROOT, contains it, or is in it.
 *  IS_TOO_WIDE tells whether a real path is too wide for a workspace. Such an image can only be chosen by its
 *  name. */
export async function fittingImages(
  images: readonly Served[],
  root: string,
  isTooWide: (real: string) => boolean,
): Promise<Served[]> {
  const ours = images.length > 0 ? await realPathOf(root) : root;
  const fits: Served[] = [];
  for (const image of images) {
    const theirs = await realPathOf(image.workspace);
    if (isTooWide(theirs) || isTooWide(ours)) continue;
    if (isInside(theirs, ours) || isInside(ours, theirs)) fits.push(image);
  }
  return fits;
}

/** Returns those of IMAGES whose socket takes connections. The process of an entry can be another one, which
 *  has got the number of an image that was killed. */
export async function listeningImages(images: readonly Served[]): Promise<Served[]> {
  const listens = await Promise.all(images.map(({ socket }) => isListening(socket)));
  return images.filter((_, index) => listens[index]);
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // A socket with a full queue of connections fails too, and does listen.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}
