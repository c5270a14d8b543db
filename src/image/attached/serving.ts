// Lists the images to which servers can attach, because their users have loaded lisp/attach.lisp. Each such image has
// two files in a folder that only this user can access: its socket NAME.socket and its description NAME.json.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  announcedIn,
  announcement,
  folderFault,
  isLine,
  isListening,
  isOwnSocket,
  statsOf,
} from '../../announced.ts';
import { realPathOf } from '../../files/answering.ts';
import { isRunning } from '../../ownership.ts';
import { isInside, removeIfPossible } from '../../paths.ts';
import type { Served } from '../wire/served.ts';

/** The images to which servers can attach. If their folder cannot be used, `refusal` is the reason. */
export interface ServedImageList {
  images: Served[];
  refusal?: string;
}

/** Maps each folder that had no description of an image to the time of its last change. While a session uses its own
 * image, each call looks for images. So such a folder is read again only after it has changed. */
const emptySince = new Map<string, number>();

/** When the last change of a folder is older than this number of milliseconds, the next change certainly gets another
 * modification time. */
const CHANGE_MS = 1000;

/** Returns the images in FOLDER whose processes run. Deletes the files of images whose processes have ended. Ignores
 * all other files. */
export function servedImages(folder: string | undefined): ServedImageList {
  if (folder === undefined) return { images: [] };
  try {
    const stats = statsOf(folder);
    if (stats === undefined) return { images: [] };
    const fault = folderFault(stats);
    if (fault !== undefined) return { images: [], refusal: FAULTS[fault](folder) };
    if (emptySince.get(folder) === stats.mtimeMs) return { images: [] };
    const files = readdirSync(folder);
    const isEmpty = !files.some((file) => file.endsWith('.json'));
    if (isEmpty && Date.now() - stats.mtimeMs > CHANGE_MS) emptySince.set(folder, stats.mtimeMs);
    return { images: files.flatMap((file) => servedImage(folder, file) ?? []) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const refusal = `The folder ${folder}, where serving images register, cannot be read (${code ?? String(error)}). Make it a folder that you own and only you can use: chmod 700.`;
    return { images: [], refusal };
  }
}

const unused = (folder: string, why: string) =>
  `The folder ${folder}, where serving images register, is not used: ${why}`;

/** Maps the reason why the folder of the images' sockets cannot be used to a function that returns sentences about this
 * folder for the user. */
const FAULTS = {
  'no folder': (folder: string) =>
    unused(folder, 'it is not a folder. Remove it, then enter the line in your image again.'),
  foreign: (folder: string) =>
    unused(
      folder,
      'it belongs to another user. Have it removed, or set LIVE_LISP_SERVING to a folder that you own, for this server and the image.',
    ),
  open: (folder: string) => unused(folder, `other users can reach it. Change that: chmod 700 ${folder}`),
};

/** Returns the image that FILE in FOLDER describes. Returns undefined when FILE is not such a description, or when the
 * process of the image has ended. */
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

function isImageName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(name);
}

/** Returns the image on another machine that TEXT describes. Its name begins with PREFIX and a colon. Returns undefined
 * when TEXT is malformed. */
export function parseServedImage(text: string, prefix: string): Served | undefined {
  const served = parsedImage(text, '');
  return served && { ...served, name: `${prefix}:${served.name}` };
}

function parsedImage(text: string, socket: string): Served | undefined {
  const { members = {}, ...facts } = announcedIn(text) ?? {};
  const { name, lisp } = members;
  if (!('pid' in facts) || typeof name !== 'string' || !isImageName(name) || !isLine(lisp, 100))
    return undefined;
  // Lisp writes the name of a folder with a slash at its end.
  return { name, ...facts, lisp, socket, workspace: facts.workspace.replace(/(?<=.)\/+$/, '') };
}

/** Returns those of IMAGES whose workspace is ROOT, contains ROOT or is inside ROOT. Leaves out an image if IS_TOO_WIDE
 * returns true for its workspace: only a user can choose such an image, by name. */
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

/** Returns those of IMAGES whose sockets accept connections. It is not enough that a process with the right id runs,
 * because another process can have the id of a killed image. */
export async function listeningImages(images: readonly Served[]): Promise<Served[]> {
  const listens = await Promise.all(images.map(({ socket }) => isListening(socket)));
  return images.filter((_, index) => listens[index]);
}
