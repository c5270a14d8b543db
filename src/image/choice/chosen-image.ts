// Implements the interface Image by forwarding each call to one of two images: the server's own image, which is started
// when it is needed, or an image that somebody else runs. The flag --image decides between them. By default, the first
// call decides for the rest of the session.

import { SetupError } from '../../errors.ts';
import { AttachedImage, type AttachedOptions } from '../attached/attached-image.ts';
import type { Image, ImageNotice, RebuildFrom, RestartableImage, Stake } from '../image.ts';
import type { SbclImage } from '../own/sbcl-image.ts';
import { DialledError } from '../process/starter.ts';
import type { LossReport } from '../recovery/report.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { Queue } from '../session/queue.ts';
import type { ImageStatus } from '../session/status.ts';
import type { CallOptions, Reply } from '../wire/call.ts';
import type { Hello } from '../wire/messages.ts';
import type { Operations } from '../wire/operations.ts';
import { codeCaller } from '../wire/origin.ts';
import { type FinderOptions, ImageFinder, onlyImage } from './image-finder.ts';

interface ChoiceOptions extends FinderOptions {
  /** The flag, such as --sandbox, because of which the choice `auto` means the server's own image; undefined when there
   * is none. */
  ownImageRequiredBy: string | undefined;
  /** Returns a new image that the server itself runs. */
  makeOwn: () => SbclImage;
  attached: Omit<AttachedOptions, 'find'>;
}

/** Operations that the server requests for itself. They do not decide which image is used. */
const INTERNAL_OPERATIONS: ReadonlySet<string> = new Set<keyof Operations>([
  'system-sources',
  'source-text',
  'loaded-texts',
]);

/** Maximum number of fresh images that run at the same time beside the image that gets the calls. Each needs at least
 * 150 MB. */
const EXTRA_IMAGE_LIMIT = 4;

export class ChosenImage implements Image, RestartableImage {
  readonly #options: ChoiceOptions;
  readonly #finder: ImageFinder;
  readonly #attached: AttachedImage;
  /** The server's own image. Undefined before it is used, and after the calls have moved to an image of somebody
   * else. */
  #own: SbclImage | undefined;
  /** The image that gets the calls. `isFinal` is true when a flag makes the choice, and after a call in the server's
   * own image. Otherwise each call chooses anew, until a call has run in an image that somebody else runs (see
   * #isSettled). */
  #choice: { image: 'own' | 'attached'; isFinal: boolean };
  #starting: Promise<void> | undefined;
  #closed = false;
  /** The fresh images in use (see withExtraImage). */
  readonly #extraImages = new Set<SbclImage>();
  readonly #extraImageQueue = new Queue(EXTRA_IMAGE_LIMIT);
  readonly #notices = new Notices<ImageNotice>();
  /** The kinds of the notices that were added. Each is added once. */
  readonly #noticed = new Set<ImageNotice['kind']>();

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.#finder = new ImageFinder(options, options.attached.attachLine);
    const find = () => this.#finder.find(this.#attached.used);
    this.#attached = new AttachedImage({ ...options.attached, find });
    this.#choice = {
      image: this.#finder.isByName ? 'attached' : 'own',
      isFinal: options.choice !== 'auto' || options.ownImageRequiredBy !== undefined,
    };
  }

  get #current(): SbclImage | AttachedImage {
    return this.isAttached ? this.#attached : this.#ownImage;
  }

  get #ownImage(): SbclImage {
    if (this.#own === undefined) {
      this.#own = this.#options.makeOwn();
      if (this.#closed) this.#own.close();
    }
    return this.#own;
  }

  get isAttached(): boolean {
    return this.#choice.image === 'attached';
  }

  async call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>> {
    // A tool that code in the image calls must work in that image, so no other image is chosen.
    if (codeCaller() !== undefined || INTERNAL_OPERATIONS.has(name))
      return this.#current.call(name, args, options);
    if (!this.#isSettled) await this.#choose();
    if (this.isAttached) return this.#attached.call(name, args, options);
    this.#choice = { image: 'own', isFinal: true };
    const noticing = this.#noticeUnused();
    const reply = await this.#ownImage.call(name, args, options).catch((error: unknown) => {
      this.#attachIfDialled(error);
      return this.#attached.call(name, args, options);
    });
    await noticing;
    return reply;
  }

  /** True when the choice between the server's own image and one that somebody else runs cannot change any more. A job
   * of the attached image is a call that perhaps still waits for the connection, so that `used` is not set yet. */
  get #isSettled(): boolean {
    const { used, jobs } = this.#attached;
    return this.#choice.isFinal || used !== undefined || jobs.list().length > 0;
  }

  /** Chooses an image. If exactly one image that somebody else runs is for this workspace and accepts servers, chooses
   * it. If there is none, chooses the server's own image. If there are several, throws a SetupError. */
  async #choose(): Promise<void> {
    const { images, refusal } = await this.#finder.fitting();
    // Another call can have made the choice meanwhile.
    if (this.#isSettled || this.#closed) return;
    if (onlyImage(images) === undefined) {
      this.#choice = { image: 'own', isFinal: false };
      if (refusal !== undefined) this.#noticeOnce({ kind: 'not serving', why: refusal });
      return;
    }
    this.#choice = { image: 'attached', isFinal: false };
    if (this.#own === undefined) return;
    // No call has used the server's own image yet. Closing it also ends the tools that its start file registered.
    this.#closeOwn();
    this.#options.attached.tools?.clear();
  }

  /** Handles ERROR, which the start of the server's own image has thrown. If ERROR says that the command of the option
   * --image has connected to an image that somebody else runs, moves all calls to that image. Otherwise throws ERROR
   * again. */
  #attachIfDialled(error: unknown): void {
    // If another call, or the start, has moved the calls meanwhile, it has closed the server's own image too.
    if (this.isAttached) return;
    if (!(error instanceof DialledError)) throw error;
    this.#choice = { image: 'attached', isFinal: true };
    this.#closeOwn();
  }

  #closeOwn(): void {
    this.#own?.close();
    this.#own = undefined;
  }

  /** Called when a call uses the server's own image. Adds a notice if somebody else runs an image for this workspace
   * all the same: it came too late, or the flag `ownImageRequiredBy` excludes it. */
  async #noticeUnused(): Promise<void> {
    const { choice, ownImageRequiredBy } = this.#options;
    if (choice !== 'auto' || this.#noticed.has('unused')) return;
    const [served] = (await this.#finder.fitting()).images;
    if (served !== undefined) this.#noticeOnce({ kind: 'unused', served, ownImageRequiredBy });
  }

  #noticeOnce(notice: ImageNotice): void {
    if (!this.#noticed.has(notice.kind)) this.#notices.add(notice);
    this.#noticed.add(notice.kind);
  }

  get loads() {
    return this.#current.loads;
  }

  /** Calls WORK, which uses the fresh image IMAGE, when fewer than EXTRA_IMAGE_LIMIT fresh images are in use. Ends
   * IMAGE when WORK has ended, or earlier if this image ends. */
  withExtraImage<Value>(image: SbclImage, work: () => Promise<Value>): Promise<Value> {
    return this.#extraImageQueue.within(() => this.#workInExtra(image, work));
  }

  async #workInExtra<Value>(image: SbclImage, work: () => Promise<Value>): Promise<Value> {
    if (this.#closed) throw new SetupError('The server is ending.');
    this.#extraImages.add(image);
    const remove = this.jobs.addExtraJobs(image.jobs);
    try {
      return await work();
    } finally {
      await image.kill();
      remove();
      this.#extraImages.delete(image);
    }
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

  start(): void {
    this.#starting = this.#isSettled ? this.#startCurrent() : this.#startChosen();
  }

  /** Starts the image for calls. If the server's own image fails, the status reports this, and the next call reports it
   * again. */
  async #startCurrent(): Promise<void> {
    if (this.isAttached) return this.#attached.start();
    await this.#ownImage
      .greeting()
      .catch((error: unknown) => this.#attachIfDialled(error))
      .catch(() => {});
  }

  async #startChosen(): Promise<void> {
    // The next call makes the choice again, and reports the failure.
    await this.#choose().then(
      () => this.#startCurrent(),
      () => {},
    );
  }

  async whenStarted(): Promise<void> {
    await this.#starting;
    await this.#current.whenStarted();
  }

  async status(): Promise<ImageStatus> {
    if (!this.#isSettled) await this.#choose();
    const beside = Promise.all([...this.#extraImages].map((image) => image.status()));
    const status = await this.#current.status();
    const jobs = (await beside).flatMap((each) => each.jobs);
    return { ...status, ...(jobs.length > 0 && { beside: jobs }) };
  }

  takeNotices(): ImageNotice[] {
    return [...(this.#own?.takeNotices() ?? []), ...this.#attached.takeNotices(), ...this.#notices.take()];
  }

  async end(): Promise<void> {
    this.#closed = true;
    const beside = [...this.#extraImages].map((image) => image.kill());
    await Promise.all([this.#own?.end(), this.#attached.end(), ...beside]);
  }

  close(): void {
    this.#closed = true;
    for (const image of [this.#own, this.#attached, ...this.#extraImages]) image?.close();
  }

  greeting(): Promise<Hello> {
    return this.#ownImage.greeting();
  }

  get restartRefusal(): string | undefined {
    if (!this.isAttached) return undefined;
    return `The user runs this image, so live-lisp does not restart it. To end a call in it, use the tool interrupt. For a fresh image, ask the user to restart it, and then to enter this line in its REPL: ${this.#options.attached.attachLine}`;
  }

  /** See RestartableImage. The callers have checked `restartRefusal`, so no image of somebody else gets the calls. */
  async restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    this.#choice = { image: 'own', isFinal: true };
    return this.#ownImage.restart(rebuild);
  }

  async isBroken(): Promise<boolean> {
    return this.#ownImage.isBroken();
  }

  get stake(): Stake {
    return this.#ownImage.stake;
  }

  get lastLoss(): LossReport | undefined {
    return this.isAttached ? undefined : this.#ownImage.lastLoss;
  }
}
