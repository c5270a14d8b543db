// Decides when an image is started plain: with an agent that uses no internals of SBCL, because a wrong use
// of internals can end an image.

import { EVERYTHING } from './agent.ts';

/** After this many answers, an image no longer counts as new. */
const FIRST_ANSWERS = 3;
/** When this many new images in a row have ended, the next image is plain. */
const IN_A_ROW = 2;
/** Operations that run no user code. An image that ends during one of them ends by its own fault. `probe` is
 *  not in the list, because it collects garbage, which can run the user's hooks. */
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

  /** FIXED: the abilities that all images must do without, if the user chose them. undefined: the policy
   *  decides. */
  constructor(fixed: readonly string[] | undefined) {
    this.#fixed = fixed;
  }

  /** The abilities that the next image does without. */
  get without(): readonly string[] {
    return this.#fixed ?? (this.#plain ? EVERYTHING : []);
  }

  /** True when the next image must prove that it works before any user code runs in it. */
  get doubtful(): boolean {
    return this.#fixed === undefined && !this.#plain && this.#ended.length > 0;
  }

  /** The endings of new images that caused this image to be started as a plain one. Empty when it is not
   *  plain. */
  get reasons(): readonly string[] {
    return this.#plain ? this.#ended : [];
  }

  /** Records that an image has started. */
  started(): void {
    this.#answers = 0;
  }

  /** Records that the image has answered a call. */
  answered(): void {
    this.#answers += 1;
    if (this.#answers >= FIRST_ANSWERS && !this.#plain) this.#ended = [];
  }

  /** Records that the image ended by itself for the reason HOW, while the operations RUNNING were unanswered.
   *  When user code can have ended it, the next image only has to prove that it works, and is not plain. */
  ended(how: string, running: readonly string[]): void {
    this.#recordEnd(how, running.length > 0 && running.every((name) => READ_ONLY_OPERATIONS.includes(name)));
  }

  /** Records that an image failed to prove that it works, and ended for the reason HOW. It had run no user
   *  code. */
  failedTrial(how: string): void {
    this.#recordEnd(how, true);
  }

  #recordEnd(how: string, ownFault: boolean): void {
    if (this.#plain || this.#answers >= FIRST_ANSWERS) return;
    this.#ended = [...this.#ended, how].slice(-IN_A_ROW);
    this.#plain = this.#fixed === undefined && ownFault && this.#ended.length === IN_A_ROW;
  }

  /** Records that no image starts at all, for the reason HOW. Returns whether to try a plain image. */
  failed(how: string): boolean {
    if (this.#plain || this.#fixed !== undefined) return false;
    this.#ended = [how];
    this.#plain = true;
    return true;
  }

  /** Records that no plain image starts either, so the next image is a full one again. */
  plainFailed(): void {
    this.#ended = [];
    this.#plain = false;
  }
}
