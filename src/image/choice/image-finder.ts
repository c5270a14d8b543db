// Finds images that somebody else runs and that this server can attach to.

import { SetupError } from '../../errors.ts';
import { fittingImages, listeningImages, type ServedImageList, servedImages } from '../attached/serving.ts';
import { type Served, servedName, servedSince } from '../wire/served.ts';

export interface FinderOptions {
  /** The value of --image. `own`: an image that the server starts. `auto`: an image of this workspace that servers can
   * attach to or, if there is none, one that the server starts. Other values: the name of an image that servers can
   * attach to. */
  choice: string;
  /** The folder with the sockets of images that servers can attach to; undefined when this user has no home
   * folder. */
  folder: string | undefined;
  root: string;
  isTooWide: (real: string) => boolean;
  /** Finds the image, when --image gives a command or the address of a Swank instead of a name. */
  findByAddress?: (() => Promise<Served>) | undefined;
}

export class ImageFinder {
  readonly #options: FinderOptions;
  /** The form that makes an image accept connections from servers, for error messages. */
  readonly #attachLine: string;

  constructor(options: FinderOptions, attachLine: string) {
    this.#options = options;
    this.#attachLine = attachLine;
  }

  /** True when --image selects an image that somebody else runs. */
  get isByName(): boolean {
    const { choice } = this.#options;
    return choice !== 'auto' && choice !== 'own';
  }

  /** Returns the image to connect to. USED is the image of earlier calls; undefined when there was none. Throws a
   * SetupError when there is no image, and when there are several and --image names none. */
  async find(used: Served | undefined): Promise<Served> {
    if (this.#options.findByAddress !== undefined) return this.#options.findByAddress();
    if (this.isByName) return this.#named(servedImages(this.#options.folder));
    const { images, refusal } = await this.fitting();
    const image = onlyImage(images);
    if (image !== undefined) return image;
    throw new SetupError(this.#goneText(used, refusal));
  }

  /** Returns the images that servers can attach to for this workspace. */
  async fitting(): Promise<ServedImageList> {
    const { folder, root, isTooWide } = this.#options;
    const { images, ...refusal } = servedImages(folder);
    if (images.length === 0) return { images, ...refusal };
    return { images: await listeningImages(await fittingImages(images, root, isTooWide)) };
  }

  /** Returns the image that has the chosen name. Throws a SetupError when no image in the list has this name. */
  async #named({ images, refusal }: ServedImageList): Promise<Served> {
    const { choice } = this.#options;
    const listening = await listeningImages(images);
    const image = listening.find(({ name }) => name === choice);
    if (image !== undefined) return image;
    const others = listening.map(servedName);
    const which =
      others.length === 0
        ? 'No image serves now.'
        : `These serve now: ${others.join(', ')}. Choose one with --image.`;
    throw new SetupError(
      [
        `No image with the name ${choice} serves, so nothing was run.`,
        refusal ?? which,
        'Without the flag --image, the server takes the image that serves this workspace, whatever its name.',
        `Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#attachLine}`,
      ].join(' '),
    );
  }

  /** Returns the error message for the case that no image lets servers attach for the workspace any more.
   * USED is the image of earlier calls; undefined when there was none. REFUSAL is the reason why the folder of sockets
   * cannot be used; undefined when it can. */
  #goneText(used: Served | undefined, refusal: string | undefined): string {
    const head =
      used === undefined
        ? 'The image that served this workspace is gone'
        : `The image ${servedName(used)}, in which this session worked, no longer serves, and no other image serves this workspace`;
    return [
      `${head}, so nothing was run.`,
      ...(refusal === undefined ? [] : [refusal]),
      "This session does not continue in a new image, because a new one would lack the old image's definitions and values. For a new image, ask the user to start the server with --image own.",
      `Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#attachLine}`,
    ].join(' ');
  }
}

/** Returns the image in IMAGES; undefined when there is none. Throws a SetupError when there are several. */
export function onlyImage(images: readonly Served[]): Served | undefined {
  const [image, ...others] = images;
  if (others.length > 0) throw new SetupError(severalText(images));
  return image;
}

function severalText(images: readonly Served[]): string {
  const rows = images.map(
    (image) =>
      `  --image ${image.name}: ${image.lisp}, pid ${image.pid}, in ${image.workspace} since ${servedSince(image)}`,
  );
  return [
    `${images.length} images serve this workspace, so nothing was run. Ask the user to start this server with one of these flags, or to enter (live-lisp:stop) in all but one image:`,
    ...rows,
    '  --image own: an image of its own',
  ].join('\n');
}
