// Decides what must be true of a case when images are built again. What was defined before it comes back after it, or
// it is said what did not. There is always a way to an image without anything of it.

import type { Answer } from '../harness.ts';
import { stopwatch } from '../load.ts';
import type { Arena, ArenaOptions } from './arena.ts';
import { type HostileCase, LIMIT_S } from './case.ts';

/** Seconds within which a lost image is built again, and more for the calls around it. */
const REBUILD_S = 60;
const GRACE_MS = 4000;

/** With what a server is started whose images are lost after each case. */
export const RECOVERING: ArenaOptions = { args: ['--allow', 'restart_image'], replay: 'on' };

/** What became of a case after which the image was lost. */
export interface Recovery {
  name: string;
  /** How the definition answered that had been made before it. */
  answered: string;
  /** Milliseconds until that answer. */
  afterMs: number;
  /** What the first answer told of the new image. */
  reported: string;
  breaches: string[];
}

/** Evaluates TRIAL in a clean image of ARENA, takes the image away, and returns what the next one is like. NUMBER is
 *  another one for each case. */
export async function recover(arena: Arena, trial: HostileCase, number: number): Promise<Recovery> {
  const breaches: string[] = [];
  const expected = (met: boolean, what: string) => {
    if (!met) breaches.push(what);
  };
  await clean(arena, expected);
  const defined = await arena.eval(`(CL:DEFUN CL-USER::KEPT-${number} () #10R${number})`);
  expected(!defined.isError, `the definition failed: ${defined.text.slice(0, 300)}`);
  const notices = await suffer(arena, trial);
  await arena.kill();
  const time = stopwatch();
  // However numbers are read and printed by now.
  const answer = await arena.eval(`(CL:EQL (CL-USER::KEPT-${number}) #10R${number})`, 5);
  const { ms: afterMs, freeMs } = time();
  const reported = [...notices, ...answer.notices].join('\n');
  expected(freeMs <= 1000 * (REBUILD_S + 5) + GRACE_MS, `answered after ${Math.round(freeMs)} ms`);
  expected(reported.includes('This is a new Lisp image; '), 'nothing told that the image is new');
  expected(/^(?:t$|Error: )/i.test(answer.text), `what was defined is another: ${answer.text.slice(0, 300)}`);
  await clean(arena, expected);
  return { name: trial.name, answered: answer.text.split('\n', 1)[0] ?? '', afterMs, reported, breaches };
}

/** Makes the call of TRIAL, and returns what was told with its answer. */
async function suffer(arena: Arena, { form, tool, before, seconds = LIMIT_S }: HostileCase) {
  const notices: string[] = [];
  const tell = (answer: Answer) => notices.push(...answer.notices);
  if (before !== undefined) tell(await arena.eval(before));
  const args = tool
    ? Object.fromEntries(Object.entries(tool.args).map(([key, value]) => [key, value === '$' ? form : value]))
    : { form, timeout: seconds };
  tell(await arena.session.call(tool?.name ?? 'eval_form', args));
  return notices;
}

/** Asks for an image without anything of the ones before. */
async function clean(arena: Arena, expected: (met: boolean, what: string) => void): Promise<void> {
  const restarted = await arena.session.call('restart_image', { rebuild: 'none' });
  expected(!restarted.isError, `restart_image: ${restarted.text.slice(0, 300)}`);
  const { text, isError, notices } = await arena.eval('(list 1 (package-name *package*))');
  expected(!isError && text === '(1 "COMMON-LISP-USER")', `a clean image answers ${text.slice(0, 300)}`);
  expected(notices.length === 0, `a clean image told ${notices.join('\n').slice(0, 300)}`);
}
