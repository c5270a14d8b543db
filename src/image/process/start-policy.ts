// Decides when to start a plain image, whose backend uses no internals of SBCL. A wrong use of internals can end an
// image.

import { WITHOUT_EVERYTHING } from './backend.ts';

/** An image is new until it has given this number of answers. */
const FIRST_ANSWERS = 3;
/** After this number of new images in a row have ended, the next image is plain, that is, its backend uses no internals
 * of SBCL. But it is not plain if user code may have ended the last one. */
const ENDED_LIMIT = 2;
/** Operations that run no user code. If an image ends during one of them, user code is not to blame. `probe` is not one
 * of them: it collects garbage, which can run hooks of the user. */
const READ_ONLY_OPERATIONS: readonly string[] = [
  'ping',
  'status',
  'apropos',
  'ranked-apropos',
  'arglist',
  'package-symbols',
  'who-calls',
  'who-references',
];

export class StartPolicy {
  readonly #fixed: readonly string[] | undefined;
  #answers = 0;
  #ended: string[] = [];
  #plain = false;

  /** FIXED has the abilities and internals of SBCL that no image may use, if the user has chosen them. If FIXED is
   * undefined, the policy decides. */
  constructor(fixed: readonly string[] | undefined) {
    this.#fixed = fixed;
  }

  /** The abilities and internals of SBCL that the backend of the next image must not use. */
  get without(): readonly string[] {
    return this.#fixed ?? (this.#plain ? WITHOUT_EVERYTHING : []);
  }

  /** True when the next image must pass a test before user code runs in it. */
  get doubtful(): boolean {
    return this.#fixed === undefined && !this.#plain && this.#ended.length > 0;
  }

  /** Reports of how new images ended. Because of these ends, the backend of the next image is plain: it uses no
   * internals of SBCL. Empty when the backend of the next image is not plain. */
  get reasons(): readonly string[] {
    return this.#plain ? this.#ended : [];
  }

  noteStarted(): void {
    this.#answers = 0;
  }

  noteAnswered(): void {
    this.#answers += 1;
    if (this.#answers >= FIRST_ANSWERS && !this.#plain) this.#ended = [];
  }

  /** Records that the image ended by itself for the reason HOW. RUNNING are the operations that were not answered. If
   * there are none, or one of them can run user code, user code may be to blame. Then the backend of the next image
   * still uses internals of SBCL, but the image must pass a test. */
  noteEnded(how: string, running: readonly string[]): void {
    this.#recordEnd(how, running.length > 0 && running.every((name) => READ_ONLY_OPERATIONS.includes(name)));
  }

  /** Records that an image in which no user code had run failed its test, and ended for the reason HOW. */
  noteFailedTrial(how: string): void {
    this.#recordEnd(how, true);
  }

  #recordEnd(how: string, ownFault: boolean): void {
    if (this.#plain || this.#answers >= FIRST_ANSWERS) return;
    this.#ended = [...this.#ended, how].slice(-ENDED_LIMIT);
    this.#plain = this.#fixed === undefined && ownFault && this.#ended.length === ENDED_LIMIT;
  }

  /** Records that no image can be started, for the reason HOW. Returns true when a plain image, whose backend uses no
   * internals of SBCL, should be tried. */
  noteFailedStart(how: string): boolean {
    if (this.#plain || this.#fixed !== undefined) return false;
    this.#ended = [how];
    this.#plain = true;
    return true;
  }

  /** Records that a plain image could not be started either. So the next image is not plain. */
  notePlainFailed(): void {
    this.#ended = [];
    this.#plain = false;
  }
}
