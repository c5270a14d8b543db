// Reads from /proc what Linux reports about a process. This works even when the process does not react.

import { readFileSync } from 'node:fs';
import type { Outside } from '../wire/pulse.ts';

/** Returns the resident memory of the process PID in octets, and whether a signal has stopped the process. Returns {}
 * when there is no such process, and on a system without /proc. */
export function processState(pid: number): Pick<Outside, 'residentOctets' | 'stopped'> {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(status)?.[1];
    return {
      ...(kilobytes !== undefined && { residentOctets: 1024 * Number(kilobytes) }),
      ...(/^State:\s*T/m.test(status) && { stopped: true }),
    };
  } catch {
    return {};
  }
}

/** Returns true when a signal has stopped the process PID; false when there is no such process, and on a system without
 * /proc. Each call in an attached image uses this, and it takes less than half the time of `processState`. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.startsWith(') T', stat.lastIndexOf(')'));
  } catch {
    return false;
  }
}
