// Ends all processes that an image has started, even those outside its process group.

import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

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
      .filter((name) => hasInEnvironment(name, text))
      .map(Number);
  } catch {
    return [];
  }
}

/** Memory for one environment after the other. Linux limits the environment of a process to 6 MB. Each end of
 *  an image reads the environments of all processes, and new memory for each took half of that time. */
const environment = Buffer.allocUnsafeSlow(6 * 1024 * 1024);

/** Returns true when the environment of the process PID contains TEXT. */
function hasInEnvironment(pid: string, text: string): boolean {
  try {
    const descriptor = openSync(`/proc/${pid}/environ`, 'r');
    try {
      return environment.subarray(0, readSync(descriptor, environment)).includes(text);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false; // The process belongs to another user, or has ended.
  }
}
