// Decides what must be true of a sequence: damage, ordinary work, a loss, ordinary work again.

import { stopwatch } from '../../load.ts';
import type { Arena, ArenaOptions } from '../arena.ts';
import { LIMIT_S } from '../case.ts';
import type { Damage } from './damages.ts';

/** With what a server is started whose images are lost after each sequence. */
export const RECOVERING: ArenaOptions = { args: ['--allow', 'restart_image'], replay: 'on' };

/** Seconds within which an image works again, besides the limit of the call that found the damage. */
const WORKING_S = 5;
/** The next call, or the one after it, gets its value. */
const CALLS = 2;

/** What became of a sequence. */
export interface Passage {
  name: string;
  /** How many calls it took until one had its value, and how long, in seconds. */
  calls: number;
  seconds: number;
  reported: string[];
  breaches: string[];
}

/** Does DAMAGE to the image of ARENA and returns how work went on after it, and after the loss of the image. NUMBER is
 *  another one for each. */
export async function pass(arena: Arena, { name, form }: Damage, number: number): Promise<Passage> {
  const breaches: string[] = [];
  const reported: string[] = [];
  const defined = await arena.eval(`(defun cl-user::seq-${number} () ${number})`, 60);
  if (defined.isError) breaches.push(`the definition failed: ${defined.text.slice(0, 300)}`);
  reported.push(...(await arena.eval(form, LIMIT_S)).notices);
  const after = await work(arena, number, reported);
  if (after.freeSeconds > WORKING_S + after.calls * LIMIT_S)
    breaches.push(`worked after ${after.freeSeconds.toFixed(1)} s`);
  breaches.push(...after.breaches);
  await arena.kill();
  const again = await work(arena, number, reported);
  breaches.push(...again.breaches.map((breach) => `after the loss: ${breach}`));
  if (!reported.some((text) => text.startsWith('This is a new Lisp image; ')))
    breaches.push('the loss was not told');
  const clean = await arena.session.call('restart_image', { rebuild: 'none' });
  if (clean.isError) breaches.push(`restart_image: ${clean.text.slice(0, 300)}`);
  return { name, calls: after.calls, seconds: after.seconds, reported, breaches };
}

/** Calls what was defined until that gives its value. */
async function work(arena: Arena, number: number, reported: string[]) {
  const time = stopwatch();
  for (let calls = 1; ; calls++) {
    // However names are read by now.
    const answer = await arena.eval(
      calls % 2 === 1 ? `(CL-USER::SEQ-${number})` : `(cl-user::seq-${number})`,
      calls < CALLS ? LIMIT_S : WORKING_S,
    );
    reported.push(...answer.notices);
    const works = /^#?\w*\d/.test(answer.text) && !answer.isError;
    if (!works && calls < CALLS) continue;
    const { ms, freeMs } = time();
    const spent = { seconds: ms / 1000, freeSeconds: freeMs / 1000 };
    return { calls, ...spent, breaches: works ? [] : [`after ${calls} calls: ${answer.text.slice(0, 300)}`] };
  }
}
