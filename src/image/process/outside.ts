// Reads from /proc what Linux knows of a process, whether or not the process reacts.

import { readFileSync } from 'node:fs';
import type { Outside } from '../wire/data.ts';

/** Returns the resident memory of the process PID in octets, and whether a signal has stopped it. Returns an empty
 *  object where there is no /proc or no such process. */
export function seenFromOutside(pid: number): Pick<Outside, 'residentOctets' | 'stopped'> {
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
