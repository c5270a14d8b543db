// Decides what ends with an image: every process that it started, also those that left its process group.

import { readdirSync, readFileSync } from 'node:fs';

/** The variable that tells in the environment of a process which image started it. */
export const MARK = 'LIVE_LISP_IMAGE';

/** How often processes are looked for that were started while others were ended. */
const ROUNDS = 5;

/** Ends the process group that PID leads or led, and all processes that have MARK as the value of the variable. */
export function endDescendants(pid: number, mark: string): void {
  kill(-pid);
  for (let round = 0; round < ROUNDS; round++) {
    const left = marked(`${MARK}=${mark}\0`);
    if (left.length === 0) return;
    left.forEach(kill);
  }
}

/** Returns the process PID, its first child, the first child of that, and so on: bubblewrap's processes and then SBCL. Returns
 *  only PID where the system does not list children. */
export function withInner(pid: number): number[] {
  const [child] = childrenOf(pid);
  return child === undefined ? [pid] : [pid, ...withInner(child)];
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // It has ended, or there is no /proc.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Returns the processes whose environment holds TEXT; none where there is no /proc. */
function marked(text: string): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => environmentOf(name).includes(text))
      .map(Number);
  } catch {
    return [];
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // Somebody else's, or it has ended.
  }
}
