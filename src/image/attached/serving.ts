// Lists the images that serve live-lisp: those in which their users have loaded lisp/attach.lisp. Each of them
// has a file NAME.json, which describes it, beside its socket NAME.socket, in a folder of this user alone.

import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { announcedIn, announcement, folderFault, isLine, isOwnSocket, statsOf } from '../../announced.ts';
import { realPathOf } from '../../files/answering.ts';
import { isRunning } from '../../own.ts';
import { isInside, removeIfPossible } from '../../paths.ts';
import type { Served } from '../wire/served.ts';

/** The images that serve, and sentences that say why the folder is not used, if it is not. */
export interface ServedImageList {
  images: Served[];
  refusal?: string;
}

/** Returns the images in FOLDER whose process lives. Deletes the files of those whose process has ended, as
 *  after a kill. Ignores all files that are not as an image writes them. */
export function servedImages(folder: string | undefined): ServedImageList {
  if (folder === undefined) return { images: [] };
  try {
    const stats = statsOf(folder);
    if (stats === undefined) return { images: [] };
    const fault = folderFault(stats);
    if (fault !== undefined) return { images: [], refusal: FAULTS[fault](folder) };
    return { images: readdirSync(folder).flatMap((file) => servedImage(folder, file) ?? []) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const refusal = `The folder ${folder}, where images that serve are looked for, cannot be read (${code ?? String(error)}). Make it a folder of yours that only you can use: chmod 700.`;
    return { images: [], refusal };
  }
}

const unused = (folder: string, why: string) =>
  `The folder ${folder} of images that serve is not used: ${why}`;

/** Sentences on why a folder is not used. */
const FAULTS = {
  'no folder': (folder: string) =>
    unused(folder, 'it is no folder. Remove it, and give the line in your image again.'),
  foreign: (folder: string) =>
    unused(
      folder,
      'it belongs to another user. Have it removed, or name a folder of yours in LIVE_LISP_SERVING, for the image too.',
    ),
  open: (folder: string) => unused(folder, `other users can reach it. Change that: chmod 700 ${folder}`),
};

/** Returns the image that FILE in FOLDER describes; undefined when there is none, or its process has ended. */
function servedImage(folder: string, file: string): Served | undefined {
  const name = basename(file, '.json');
  if (name === file || !isImageName(name)) return undefined;
  const socket = join(folder, `${name}.socket`);
  const served = parsedImage(announcement(folder, name), socket);
  if (served?.name !== name) return undefined;
  if (isRunning(served.pid)) return isOwnSocket(socket) ? served : undefined;
  for (const left of [join(folder, file), socket]) removeIfPossible(left);
  return undefined;
}

/** True when NAME can be the name of an image: it is a file name and one word of a command line. */
export function isImageName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(name);
}

/** Returns the image that TEXT describes, which somebody told who can reach it: its name has PREFIX and a colon before
 *  it. Returns undefined when TEXT is not as an image writes it. */
export function parseServedImage(text: string, prefix: string): Served | undefined {
  const served = parsedImage(text, '');
  return served && { ...served, name: `${prefix}:${served.name}` };
}

/** Returns the image with SOCKET that TEXT describes; undefined when a member is missing or not as an image writes
 *  it. */
function parsedImage(text: string, socket: string): Served | undefined {
  const { members = {}, ...facts } = announcedIn(text) ?? {};
  const { name, lisp } = members;
  if (!('pid' in facts) || typeof name !== 'string' || !isImageName(name) || !isLine(lisp, 100))
    return undefined;
  // Without slashes at its end, as Lisp writes folders.
  return { name, ...facts, lisp, socket, workspace: facts.workspace.replace(/(?<=.)\/+$/, '') };
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
