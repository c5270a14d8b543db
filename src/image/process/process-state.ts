// Reads from /proc what Linux reports about a process. This works even when the process does not react.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
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

/** Room for a line of /proc/PID/stat up to its third field, the state of the process. */
const STAT = Buffer.alloc(128);

/** Returns true when a signal has stopped the process PID; false when there is no /proc or no such process. Reads only
 * the beginning of one file, because each call in an attached image asks this. */
export function isStopped(pid: number): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(`/proc/${pid}/stat`, 'r');
    const stat = STAT.toString('latin1', 0, readSync(descriptor, STAT));
    return stat.startsWith(') T', stat.lastIndexOf(')'));
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
