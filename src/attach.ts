// Implements the command attach: prints the form that makes an image that somebody else runs accept connections from
// servers, and lists the images that servers can attach to now.

import { join } from 'node:path';
import type { Config } from './config.ts';
import { fittingImages, listeningImages, servedImages } from './image/attached/serving.ts';
import { lispPath } from './image/process/backend.ts';
import { type Served, servedSince } from './image/wire/served.ts';
import { isTooWide } from './paths.ts';
import { PACKAGE_FOLDER } from './sandboxing.ts';

/** Returns the form to enter in the REPL of an image, so that servers can attach to it. LOAD is the name of the
 * function LOAD, with its package if that is necessary in the REPL. */
export function attachLine(load = 'load'): string {
  return `(${load} ${lispPath(join(PACKAGE_FOLDER, 'lisp', 'attach.lisp'))})`;
}

/** Returns the form for Emacs' init file that makes every image of SLIME or SLY accept connections from servers. */
export function emacsLine(): string {
  return `(progn (load ${JSON.stringify(join(PACKAGE_FOLDER, 'emacs', 'live-lisp.el'))}) (live-lisp-mode 1))`;
}

/** The images that servers can attach to now. `fitting` are those whose folder is the workspace, contains it, or is
 * inside it. */
export interface ServingNow {
  images: Served[];
  fitting: Served[];
  /** The reason why the folder of the images' sockets is not used; absent when it is used. */
  refusal?: string;
}

/** Returns the images that servers can attach to now, and which of them fit the workspace of CONFIG. */
export async function servingNow({ serving, root }: Config): Promise<ServingNow> {
  const { images: alive, ...refusal } = servedImages(serving);
  const images = await listeningImages(alive);
  return { images, fitting: await fittingImages(images, root, isTooWide), ...refusal };
}

const LIST_LIMIT = 5;

/** Returns the text that the command attach prints for CONFIG. */
export async function attachText(config: Config): Promise<string> {
  const { images, fitting, refusal } = await servingNow(config);
  const rows = images.slice(0, LIST_LIMIT).map((image) => `  ${imageText(image)}${markOf(image, fitting)}`);
  const more = images.length - rows.length;
  return [
    'To have agents work in your own Lisp image, enter this line in its REPL, in SLIME, SLY or any other:',
    '',
    `  ${attachLine()}`,
    '',
    'To make every new image serve agents, put that line at the end of ~/.sbclrc. Or put the next line into the init file',
    'of Emacs, which then also shows you what agents do:',
    '',
    `  ${emacsLine()}`,
    '',
    'Agents then work in that image if its folder is the same as theirs, contains theirs, or is inside theirs. If their',
    'session has used another image already, start a new session. live-lisp never ends your image; (live-lisp:stop) ends',
    'the service.',
    '',
    refusal ?? (images.length === 0 ? 'No image serves now.' : 'Images that serve now:'),
    ...rows,
    ...(more > 0 ? [`  ... ${more} more`] : []),
  ].join('\n');
}

function imageText(image: Served): string {
  const { name, lisp, pid, workspace } = image;
  return `${name}: ${lisp}, pid ${pid}, in ${workspace} since ${servedSince(image)}`;
}

/** Returns a note that says whether a server that starts in this folder would use the image. FITTING lists all images
 * that such a server could use. */
function markOf({ name }: Served, fitting: readonly Served[]): string {
  if (!fitting.some((image) => image.name === name))
    return `; for other folders; here only with --image ${name}`;
  return fitting.length === 1
    ? '; used in this folder'
    : `; one of ${fitting.length} for this folder; --image ${name} chooses it`;
}
