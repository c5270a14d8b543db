// Implements Image for the image that the flag --image chooses: the server's own image, or one that somebody else
// runs and that serves live-lisp. Own images are made only when they are needed.

import { SetupError } from '../../errors.ts';
import { AttachedImage, type AttachedOptions } from '../attached/attached-image.ts';
import { fittingImages, listeningImages, type ServedImageList, servedImages } from '../attached/serving.ts';
import type { Image, ImageNotice, RebuildFrom, RestartableImage, Stake } from '../image.ts';
import type { SbclImage } from '../own/sbcl-image.ts';
import { DialledError } from '../process/lifetime.ts';
import type { LossReport } from '../recovery/report.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import type { ImageStatus } from '../session/status.ts';
import type { CallOptions, Reply } from '../wire/call.ts';
import type { Hello } from '../wire/messages.ts';
import type { Operations } from '../wire/operations.ts';
import { codeCaller } from '../wire/origin.ts';
import { type Served, servedName, servedSince } from '../wire/served.ts';

export interface ChoiceOptions {
  /** `own`: an image that the server starts. `auto`: an image to which servers of this workspace can attach, else an
   *  own one. Else the name of an image to which servers can attach. */
  choice: string;
  /** Folder with the socket of each image to which servers can attach; undefined when this user has no home. */
  folder: string | undefined;
  /** Root of the workspace. */
  root: string;
  /** True when a real path is too wide for a workspace. */
  isTooWide: (real: string) => boolean;
  /** The flag because of which `auto` takes only an own image, if it was given. */
  keptOwnBy: string | undefined;
  /** Returns a new image that the server itself runs, as opposed to one that somebody else runs. */
  makeOwn: () => SbclImage;
  /** Options for an image that somebody else runs. */
  attached: Omit<AttachedOptions, 'find'>;
  /** For a choice that is the way to an image that somebody else runs: finds that image. */
  findByWay?: (() => Promise<Served>) | undefined;
}

/** Operations that the server performs for itself. They do not settle which image a session uses. */
const NO_USE: ReadonlySet<string> = new Set<keyof Operations>([
  'system-sources',
  'source-text',
  'loaded-texts',
]);

export class ChosenImage implements Image, RestartableImage {
  readonly #options: ChoiceOptions;
  readonly #attached: AttachedImage;
  /** The server's own image, if one was made and not ended in favour of another. */
  #own: SbclImage | undefined;
  /** True when the flag names an image, or its command leads to one that somebody else runs. */
  #isNamed: boolean;
  /** True when calls work in an image that somebody else runs. */
  #isAttached: boolean;
  /** True when the session stays in the own image, because calls have used it or a flag says so. */
  #staysOwn: boolean;
  #starting: Promise<void> | undefined;
  #closed = false;
  readonly #notices = new Notices<ImageNotice>();
  /** True when a notice has named an image that serves and is not used. */
  #unusedNoticed = false;
  /** True when a notice has said that the folder cannot be used. */
  #refusalNoticed = false;

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.#attached = new AttachedImage({ ...options.attached, find: () => this.#find() });
    this.#isNamed = options.choice !== 'auto' && options.choice !== 'own';
    this.#isAttached = this.#isNamed;
    this.#staysOwn = options.choice === 'own' || options.keptOwnBy !== undefined;
  }

  /** The image that calls use, as far as it is known. */
  get #current(): SbclImage | AttachedImage {
    return this.#isAttached ? this.#attached : this.#ownImage;
  }

  get #ownImage(): SbclImage {
    if (this.#own === undefined) {
      this.#own = this.#options.makeOwn();
      if (this.#closed) this.#own.close();
    }
    return this.#own;
  }

  get isAttached(): boolean {
    return this.#isAttached;
  }

  get jobs(): Jobs {
    return this.#current.jobs;
  }

  get features(): ReadonlySet<string> {
    return this.#current.features;
  }

  get running(): boolean {
    return this.#current.running;
  }

  async call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>> {
    // Code in an image calls tools of that image.
    if (codeCaller() !== undefined || NO_USE.has(name)) return this.#current.call(name, args, options);
    if (!this.#isSettled) await this.#choose();
    if (this.#isAttached) return this.#attached.call(name, args, options);
    this.#staysOwn = true;
    const noticing = this.#noticeUnused();
    const reply = await this.#ownImage.call(name, args, options).catch((error: unknown) => {
      this.#attachIfDialled(error);
      return this.#attached.call(name, args, options);
    });
    await noticing;
    return reply;
  }

  /** Works in the image that somebody else runs from now on, if ERROR says that the command leads to one. Else
   *  rethrows ERROR. */
  #attachIfDialled(error: unknown): void {
    if (!(error instanceof DialledError)) throw error;
    this.#isNamed = true;
    this.#isAttached = true;
    this.#own?.close();
    this.#own = undefined;
  }

  start(): void {
    if (this.#isSettled) this.#current.start();
    else this.#starting = this.#startChosen();
  }

  async #startChosen(): Promise<void> {
    // A failure is reported by the next call, which chooses again.
    await this.#choose().then(
      () => this.#current.start(),
      () => {},
    );
  }

  async whenStarted(): Promise<void> {
    await this.#starting;
    await this.#current.whenStarted();
  }

  async status(): Promise<ImageStatus> {
    if (!this.#isSettled) await this.#choose();
    return this.#current.status();
  }

  takeNotices(): ImageNotice[] {
    return [...(this.#own?.takeNotices() ?? []), ...this.#attached.takeNotices(), ...this.#notices.take()];
  }

  async end(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#own?.end(), this.#attached.end()]);
  }

  close(): void {
    this.#closed = true;
    this.#own?.close();
    this.#attached.close();
  }

  /** Returns the greeting of the own image's agent. */
  greeting(): Promise<Hello> {
    return this.#ownImage.greeting();
  }

  get restartRefusal(): string | undefined {
    if (!this.#isAttached) return undefined;
    return `The user runs this image, so live-lisp does not restart it. interrupt ends a call in it. For a fresh image, ask the user to restart it, and to enter this line in its REPL then: ${this.#line}`;
  }

  async restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    this.#staysOwn = true;
    return this.#ownImage.restart(rebuild);
  }

  async isBroken(): Promise<boolean> {
    return this.#ownImage.isBroken();
  }

  get stake(): Stake {
    return this.#ownImage.stake;
  }

  get lastLoss(): LossReport | undefined {
    return this.#isAttached ? undefined : this.#ownImage.lastLoss;
  }

  get #line(): string {
    return this.#options.attached.line;
  }

  /** True when calls go to the current image, without another look at the images that serve. */
  get #isSettled(): boolean {
    const attachedUsed = this.#attached.used !== undefined || this.#attached.jobs.list().length > 0;
    return this.#isNamed || this.#staysOwn || attachedUsed;
  }

  /** Chooses the image that serves the workspace if there is one, else an own image. Throws a SetupError when
   *  there are several. */
  async #choose(): Promise<void> {
    const { images, refusal } = await this.#fitting();
    // Another call can have used an image meanwhile.
    if (this.#isSettled || this.#closed) return;
    if (images.length > 1) throw new SetupError(severalText(images));
    const [image] = images;
    if (image === undefined) {
      this.#isAttached = false;
      this.#noticeRefusal(refusal);
      return;
    }
    this.#isAttached = true;
    if (this.#own === undefined) return;
    // No call has used this image. Tools of its start file go with it.
    this.#own.close();
    this.#own = undefined;
    this.#options.attached.tools?.clear();
  }

  /** Returns the images that serve the workspace and take connections. */
  async #fitting(): Promise<ServedImageList> {
    const { folder, root, isTooWide } = this.#options;
    const { images, ...refusal } = servedImages(folder);
    if (images.length === 0) return { images, ...refusal };
    return { images: await listeningImages(await fittingImages(images, root, isTooWide)) };
  }

  /** Returns the image that calls use, if somebody else runs it. Throws a SetupError when there is none, and
   *  when there are several. */
  async #find(): Promise<Served> {
    if (this.#options.findByWay !== undefined) return this.#options.findByWay();
    if (this.#isNamed) return this.#named(servedImages(this.#options.folder));
    const { images, refusal } = await this.#fitting();
    const [image] = images;
    if (images.length > 1) throw new SetupError(severalText(images));
    if (image !== undefined) return image;
    throw new SetupError(this.#goneText(this.#attached.used, refusal));
  }

  async #named({ images, refusal }: ServedImageList): Promise<Served> {
    const { choice } = this.#options;
    const listening = await listeningImages(images);
    const image = listening.find(({ name }) => name === choice);
    if (image !== undefined) return image;
    const others = listening.map(servedName);
    const which =
      others.length === 0
        ? 'No image serves now.'
        : `These serve now: ${others.join(', ')}; --image takes one of them.`;
    throw new SetupError(
      [
        `No image with the name ${choice} serves, so nothing was run.`,
        refusal ?? which,
        'Without the flag --image, the server takes the image that serves this workspace, whatever its name.',
        `Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#line}`,
      ].join(' '),
    );
  }

  /** Returns the text for the case that no image serves the workspace, after calls have worked in USED. */
  #goneText(used: Served | undefined, refusal: string | undefined): string {
    const head =
      used === undefined
        ? 'The image that served this workspace is gone'
        : `The image ${servedName(used)}, in which this session worked, serves no more, and no other serves this workspace`;
    return [
      `${head}, so nothing was run.`,
      ...(refusal === undefined ? [] : [refusal]),
      'This session does not go on in an image of its own, which would lack what that image had. Only a server that is started with --image own has one.',
      `Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#line}`,
    ].join(' ');
  }

  /** Adds the notice that an image serves the workspace and is not used, the first time that this is so. */
  async #noticeUnused(): Promise<void> {
    const { choice, keptOwnBy } = this.#options;
    if (choice !== 'auto' || this.#unusedNoticed) return;
    const [served] = (await this.#fitting()).images;
    if (served === undefined || this.#unusedNoticed) return;
    this.#unusedNoticed = true;
    this.#notices.add({ kind: 'unused', served, keptOwnBy });
  }

  #noticeRefusal(why: string | undefined): void {
    if (why === undefined || this.#refusalNoticed) return;
    this.#refusalNoticed = true;
    this.#notices.add({ kind: 'not serving', why });
  }
}

/** Returns the text for several IMAGES that serve the workspace. */
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
