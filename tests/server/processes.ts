// What /proc tells about processes: the tests of starts, ends and losses look at them from outside.

import { readdirSync, readFileSync } from 'node:fs';
import { IMAGE_VARIABLE } from '../../src/image/process/descendants.ts';
import { freeMs } from '../load.ts';

/** Returns what READ gives; NOTHING where what it reads is gone. */
function unlessGone<T>(nothing: T, read: () => T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}

/** Returns the parts of /proc/PID/stat after the name, or undefined when the process is gone. */
function statOf(pid: number): string[] | undefined {
  return unlessGone(undefined, () => {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(/\) (?=[A-Za-z] )/);
    return rest.split(' ');
  });
}

/** True while the process PID runs; one that ended and that nobody waited for counts as gone. */
export function runs(pid: number): boolean {
  const [state = 'X'] = statOf(pid) ?? [];
  return !['Z', 'X'].includes(state);
}

/** Returns the command line of the process PID; nothing when it is gone. */
export function commandOf(pid: number): string {
  return unlessGone('', () => readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Returns the processes that run and whose parent is PID. Each of its threads has those that it started; to look at all
 *  processes would take forty times as long, and tests look often. */
export function childrenOf(pid: number): number[] {
  const threads = unlessGone([], () => readdirSync(`/proc/${pid}/task`));
  const ofThread = (thread: string) =>
    unlessGone('', () => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'));
  return threads
    .flatMap((thread) => ofThread(thread).split(' '))
    .filter((child) => child !== '')
    .map(Number)
    .filter(runs);
}

/** Returns whether the process PID runs and its environment has TEXT in it. */
function hasAround(pid: number, text: string): boolean {
  return unlessGone(false, () => runs(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text));
}

/** Returns the processes that run and whose environment has the value MARK, whoever their parent is. */
export function marked(mark: string): number[] {
  return allPids().filter((pid) => hasAround(pid, mark));
}

/** Returns the images of the server PID, and not what makes a core beside them. One that is still a copy of the server is
 *  none yet: whoever stops that holds up the server. */
export function imagesOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => hasAround(child, `${IMAGE_VARIABLE}=`));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves with what LOOK returns once that is neither undefined nor false. Throws, naming WHAT, when it
 *  still is after MS milliseconds. */
export async function until<T>(
  what: string,
  ms: number,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const [began, beganFree] = [performance.now(), freeMs()];
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    // The second clock is never ahead of the first, and takes longer to read.
    const waited = performance.now() - began;
    if (waited > ms && freeMs() - beganFree > ms) throw new Error(`Not seen within ${ms} ms: ${what}.`);
    // A look is often a call: one after the other would take what it waits for from others.
    await pause(Math.min(100, 10 + waited / 10));
  }
}

/** Resolves with the process of the image that the server PID has started. */
export async function imageOf(pid: number): Promise<number> {
  return until(`an image of the server ${pid}`, 60_000, () => imagesOf(pid)[0]);
}

/** Resolves when the process PID is gone; throws after MS milliseconds. */
export async function gone(pid: number, ms: number): Promise<void> {
  await until(`the end of the process ${pid}`, ms, () => !runs(pid));
}

/** Kills the process PID, unless it has ended by itself. Resolves when its parent knows: then the system has forgotten
 *  it. */
export async function killChild(pid: number): Promise<void> {
  if (runs(pid)) process.kill(pid, 'SIGKILL');
  await until(`the parent of ${pid} to know its end`, 60_000, () => statOf(pid) === undefined);
}
