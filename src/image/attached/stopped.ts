// Tells whether the process of an image was stopped by a signal, so that nothing in it runs.

import { readFileSync } from 'node:fs';

/** True when the process PID of this machine is stopped, as by Ctrl-Z. False where the system does not tell. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The state follows the program's name, which is in parentheses and can itself contain some.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false;
  }
}
