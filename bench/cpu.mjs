// Reads from the system how much CPU time a server has used.

import { existsSync, readFileSync } from 'node:fs';

/**
 * Returns the milliseconds of CPU that the main thread of the process PID has had.
 * @param {number} pid
 */
export function mainThreadCpu(pid) {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Returns whether the system counts CPU as this file reads it. */
export function countsCpu() {
  return existsSync('/proc/self/schedstat');
}
