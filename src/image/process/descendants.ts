// Ends all processes that an image has started, even those outside its process group.

import { readdirSync, readFileSync } from 'node:fs';

/** The name of the environment variable by which the descendants of an image are recognized. */
export const IMAGE_VARIABLE = 'LIVE_LISP_IMAGE';

/** Maximum number of times that processes are searched for and killed. A process can start others before it is killed,
 * so one search may not be enough. */
const ROUND_LIMIT = 5;

/** Kills the process group of the process PID, and all processes in whose environment LIVE_LISP_IMAGE has the value
 * MARK. */
export function endDescendants(pid: number, mark: string): void {
  kill(-pid);
  for (let round = 0; round < ROUND_LIMIT; round++) {
    const remaining = processesWith(`${IMAGE_VARIABLE}=${mark}\0`);
    if (remaining.length === 0) return;
    remaining.forEach(kill);
  }
}

/** Returns PID, its first child, the first child of that child, and so on. In a sandbox, these are bubblewrap's
 * processes and, at the end, SBCL. Returns only PID if the system does not list children. */
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
    // The process has ended already.
  }
}

/** Returns the ids of the processes whose environment contains TEXT; [] on a system without /proc. */
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
