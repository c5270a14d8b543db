// Decides when an image is started plain, which means with an agent that uses no internals of SBCL. A wrong
// use of internals can end an image.

import { WITHOUT_EVERYTHING } from './agent.ts';

/** An image counts as new until it has given this many answers. */
const FIRST_ANSWERS = 3;
/** When this many new images in a row have ended, and user code is not to blame for the last one, the next
 *  image is started plain: its agent uses no internals of SBCL. */
const IN_A_ROW = 2;
/** Operations that run no user code. When an image ends during one of them, user code is not to blame.
 *  `probe` is not in the list, because it collects garbage, which can run the user's hooks. */
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

  /** FIXED are the abilities that all images must do without, if the user chose them. When undefined, the
   *  policy decides. */
  constructor(fixed: readonly string[] | undefined) {
    this.#fixed = fixed;
  }

  /** The abilities that the agent of the next image must do without. */
  get without(): readonly string[] {
    return this.#fixed ?? (this.#plain ? WITHOUT_EVERYTHING : []);
  }

  /** True when the next image must prove that it works before any user code runs in it. */
  get doubtful(): boolean {
    return this.#fixed === undefined && !this.#plain && this.#ended.length > 0;
  }

  /** How new images ended, if the next image is plain, without internals of SBCL, because of them; else
   *  []. */
  get reasons(): readonly string[] {
    return this.#plain ? this.#ended : [];
  }

  /** Records that an image has started. */
  noteStarted(): void {
    this.#answers = 0;
  }

  /** Records that the image has answered a call. */
  noteAnswered(): void {
    this.#answers += 1;
    if (this.#answers >= FIRST_ANSWERS && !this.#plain) this.#ended = [];
  }

  /** Records that the image ended by itself, for the reason HOW, while the operations RUNNING were
   *  unanswered. If user code can have ended it, the next image is not plain, but must prove that it
   *  works. */
  noteEnded(how: string, running: readonly string[]): void {
    this.#recordEnd(how, running.length > 0 && running.every((name) => READ_ONLY_OPERATIONS.includes(name)));
  }

  /** Records that an image in which no user code had run failed to prove that it works. HOW is the reason why
   *  it ended. */
  noteFailedTrial(how: string): void {
    this.#recordEnd(how, true);
  }

  #recordEnd(how: string, ownFault: boolean): void {
    if (this.#plain || this.#answers >= FIRST_ANSWERS) return;
    this.#ended = [...this.#ended, how].slice(-IN_A_ROW);
    this.#plain = this.#fixed === undefined && ownFault && this.#ended.length === IN_A_ROW;
  }

  /** Records that no image starts, for the reason HOW. Returns true when a plain image, which uses no
   *  internals of SBCL, should be tried. */
  noteFailedStart(how: string): boolean {
    if (this.#plain || this.#fixed !== undefined) return false;
    this.#ended = [how];
    this.#plain = true;
    return true;
  }

  /** Records that a plain image, which uses no internals of SBCL, does not start either. So the next image is
   *  not plain. */
  notePlainFailed(): void {
    this.#ended = [];
    this.#plain = false;
  }
}
