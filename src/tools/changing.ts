// Runs changes of files, with the loads that follow them, one at a time, even when several servers use one image.

import { setTimeout as pause } from 'node:timers/promises';
import { CallError } from '../errors.ts';
import type { Image } from '../image/image.ts';
import { Queue } from '../image/session/queue.ts';
import { reasonOf } from '../image/wire/endings.ts';
import type { TurnHolder } from '../image/wire/operations.ts';
import { codeCaller } from '../image/wire/origin.ts';
import { TIMES, type Times } from '../image/wire/times.ts';
import type { CallContext } from '../kernel/tool.ts';
import { callOptions } from './calling.ts';
import { endingText } from './endings.ts';

/** Milliseconds between two attempts to get the turn. */
const ATTEMPT_MS = 20;

/** Makes changes of files run one at a time. A change includes the load of the changed files. Several servers can use
 * an image that somebody else runs. Such an image gives the turn to one server at a time, until that server gives the
 * turn back or its connection ends. */
export class ChangeTurns {
  readonly #image: Image;
  readonly #times: Times;
  /** Lets one change of this server run at a time. */
  readonly #queue = new Queue(1);

  constructor(image: Image, times: Times = TIMES) {
    this.#image = image;
    this.#times = times;
  }

  /** Runs CHANGE when no other change of files runs in the image, and returns its value. Throws a CallError when
   * another server does not give the turn back in time, or when the call is cancelled before it gets the turn. */
  async within<Value>(context: CallContext, change: () => Promise<Value>): Promise<Value> {
    // Code that a change loads can itself change files. Such a call must not wait in the queue, because the outer
    // change waits for the call.
    if (codeCaller() !== undefined) return this.#inTurn(context, change);
    const beganAt = performance.now();
    if (!(await this.#queue.enter(context.signal, () => {})))
      throw new CallError(cancelledText(context, performance.now() - beganAt));
    try {
      return await this.#inTurn(context, change);
    } finally {
      this.#queue.leave();
    }
  }

  async #inTurn<Value>(context: CallContext, change: () => Promise<Value>): Promise<Value> {
    // Before the first call, it is unknown who runs the image.
    if (!this.#image.running) await this.#image.call('features', {}, callOptions(context));
    if (!this.#image.isAttached) return change();
    await this.#take(context);
    try {
      return await change();
    } finally {
      this.#give();
    }
  }

  async #take(context: CallContext): Promise<void> {
    const end = performance.now() + this.#times.turn;
    for (;;) {
      const { ending, data } = await this.#image.call('take-turn', {}, callOptions(context));
      if (ending.kind !== 'done') {
        // The image may have given the turn, or its process is stopped and will give it later.
        if (!('notBegun' in ending)) this.#give();
        throw new CallError(endingText(ending));
      }
      if (!data.value) return;
      if (performance.now() > end) throw new CallError(heldText(data.value));
      await pause(ATTEMPT_MS);
    }
  }

  /** Gives the turn back to the image, without waiting for the image to confirm this. If the connection is lost, does
   * nothing: the image has taken the turn back already, and a call would make a new connection. */
  #give(): void {
    if (this.#image.running) this.#image.call('give-turn', {}).catch(() => {});
  }
}

function cancelledText({ signal }: CallContext, afterMs: number): string {
  return endingText({
    kind: 'interrupted',
    reason: reasonOf(signal),
    frames: [],
    afterMs,
    notBegun: true,
  });
}

function heldText({ server, seconds }: TurnHolder): string {
  const pid = /^process (\d+)$/.exec(server)?.[1];
  const remedy = pid === undefined ? 'end that server' : `end it on the machine of the image: kill ${pid}`;
  return `Another server of this image (${server}) has been changing files and loading them for ${seconds} s, so nothing was done. Call again later. If it hangs, ask the user to ${remedy}.`;
}
