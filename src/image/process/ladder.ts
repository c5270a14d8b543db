// Decides when an image is started plain: without all that the agent does by internals of SBCL, one of which may end it.

import { EVERYTHING } from './agent.ts';

/** Answers after which an image is no longer new. */
const FIRST_ANSWERS = 3;
/** New images that end in a row before the next is plain. */
const IN_A_ROW = 2;
/** Operations that run no code of the user, so an image that ends in one of them ends by its own fault. Not so `probe`,
 *  which collects garbage: hooks of the user run then. */
const LOOKS: readonly string[] = [
  'ping',
  'status',
  'apropos',
  'ranked-apropos',
  'arglist',
  'package-symbols',
  'who-calls',
  'who-references',
];

export class Ladder {
  readonly #given: readonly string[] | undefined;
  #answers = 0;
  #ended: string[] = [];
  #plain = false;

  /** When GIVEN is what images are to do without, they always do without that. */
  constructor(given: readonly string[] | undefined) {
    this.#given = given;
  }

  /** What the next image does without. */
  get without(): readonly string[] {
    return this.#given ?? (this.#plain ? EVERYTHING : []);
  }

  /** Whether the next image must show that it works before any code of the user runs in it. */
  get doubtful(): boolean {
    return this.#given === undefined && !this.#plain && this.#ended.length > 0;
  }

  /** How the new images ended because of which this one is plain; empty when it is not. */
  get because(): readonly string[] {
    return this.#plain ? this.#ended : [];
  }

  /** Takes that an image has been started. */
  began(): void {
    this.#answers = 0;
  }

  /** Takes that the image has answered a call. */
  answered(): void {
    this.#answers += 1;
    if (this.#answers >= FIRST_ANSWERS && !this.#plain) this.#ended = [];
  }

  /** Takes that the image ended by itself, as HOW says, while the operations RUNNING had no answer. When code of the user
   *  can have ended it, the next image is doubtful, and no more than that. */
  ended(how: string, running: readonly string[]): void {
    this.#note(how, running.length > 0 && running.every((name) => LOOKS.includes(name)));
  }

  /** Takes that an image in which no code of the user had run ended, as HOW says, instead of showing that it works. */
  failedTrial(how: string): void {
    this.#note(how, true);
  }

  #note(how: string, ownFault: boolean): void {
    if (this.#plain || this.#answers >= FIRST_ANSWERS) return;
    this.#ended = [...this.#ended, how].slice(-IN_A_ROW);
    this.#plain = this.#given === undefined && ownFault && this.#ended.length === IN_A_ROW;
  }

  /** Takes that no image starts at all, as HOW says. Returns whether a plain one is to be tried. */
  failed(how: string): boolean {
    if (this.#plain || this.#given !== undefined) return false;
    this.#ended = [how];
    this.#plain = true;
    return true;
  }

  /** Takes that no plain image starts either: then the next is a whole one again. */
  plainFailed(): void {
    this.#ended = [];
    this.#plain = false;
  }
}
