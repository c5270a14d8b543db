// Decides when to start a plain image, with an agent that uses no internals of SBCL. A wrong use of internals
// can end an image.

import { WITHOUT_EVERYTHING } from './agent.ts';

/** Number of answers after which an image no longer counts as new. */
const FIRST_ANSWERS = 3;
/** After the ends of this many new images in a row, with no user code to blame for the last one, the next
 *  image is plain: its agent uses no internals of SBCL. */
const IN_A_ROW = 2;
/** Operations that run no user code, so user code is not to blame for the end of an image during one of them.
 *  `probe` is not among them: it collects garbage, which can run the user's hooks. */
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

  /** FIXED are the abilities to leave out in all images, if the user chose them. Otherwise the policy
   *  decides. */
  constructor(fixed: readonly string[] | undefined) {
    this.#fixed = fixed;
  }

  /** The abilities to leave out in the next image. */
  get without(): readonly string[] {
    return this.#fixed ?? (this.#plain ? WITHOUT_EVERYTHING : []);
  }

  /** True when the next image must prove that it works before any user code runs in it. */
  get doubtful(): boolean {
    return this.#fixed === undefined && !this.#plain && this.#ended.length > 0;
  }

  /** The reasons for the ends of new images because of which the next image is plain (without internals of
   *  SBCL). Empty for another image. */
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

  /** Records that the image ended by itself for the reason HOW, while the operations RUNNING were unanswered.
   *  If user code can be to blame, the next image is not plain, but must pass a trial. */
  noteEnded(how: string, running: readonly string[]): void {
    this.#recordEnd(how, running.length > 0 && running.every((name) => READ_ONLY_OPERATIONS.includes(name)));
  }

  /** Records that an image without user code failed its trial, and HOW it ended. */
  noteFailedTrial(how: string): void {
    this.#recordEnd(how, true);
  }

  #recordEnd(how: string, ownFault: boolean): void {
    if (this.#plain || this.#answers >= FIRST_ANSWERS) return;
    this.#ended = [...this.#ended, how].slice(-IN_A_ROW);
    this.#plain = this.#fixed === undefined && ownFault && this.#ended.length === IN_A_ROW;
  }

  /** Records that no image starts, for the reason HOW. Returns true when a plain image (without internals of
   *  SBCL) should be tried. */
  noteFailedStart(how: string): boolean {
    if (this.#plain || this.#fixed !== undefined) return false;
    this.#ended = [how];
    this.#plain = true;
    return true;
  }

  /** Records that a plain image does not start either, so the next image is not plain. */
  notePlainFailed(): void {
    this.#ended = [];
    this.#plain = false;
  }
}
