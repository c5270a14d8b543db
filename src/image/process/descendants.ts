// Ends every process that an image started, also those that left its process group.

import { readdirSync, readFileSync } from 'node:fs';

/** Environment variable that marks a process with the image that started it. */
export const MARK = 'LIVE_LISP_IMAGE';

/** Maximum number of searches for processes to kill: a process can start others before it is killed. */
const ROUNDS = 5;

/** Kills the process group of leader PID, and all processes that have MARK as the value of that variable. */
export function endDescendants(pid: number, mark: string): void {
  kill(-pid);
  for (let round = 0; round < ROUNDS; round++) {
    const remaining = processesWith(`${MARK}=${mark}\0`);
    if (remaining.length === 0) return;
    remaining.forEach(kill);
  }
}

/** Returns PID, its first child, the first child of that process, and so on: bubblewrap's processes, then SBCL. Returns
 *  only PID where the system does not list children. */
export function processChain(pid: number): number[] {
  const [child] = childrenOf(pid);
  return child === undefined ? [pid] : [pid, ...processChain(child)];
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // The process has ended, or there is no /proc.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** Returns the ids of the processes whose environment contains TEXT; none where there is no /proc. */
function processesWith(text: string): number[] {
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
    return ''; // The process belongs to another user, or has ended.
  }
}
