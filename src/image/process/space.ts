// Gives advice when a limit on the address space prevents an image from reserving its heap.

import { readFileSync } from 'node:fs';
import { SPACE_PER_HEAP } from './backend.ts';

/** Megabytes of address space outside the heap that SBCL needs to start and to run some threads. */
const NON_HEAP_MB = 1024;
/** The smallest heap that --heap accepts, in megabytes. */
const LEAST_HEAP_MB = 128;

/** Returns advice for the user when the limit on the address space of this process is too low for an image with HEAP_MB
 * megabytes of heap. LIMITS is the text of /proc/self/limits. Returns undefined when the limit is high enough or
 * unknown. */
export function spaceRemedy(heapMb: number, limits: string = ownLimits()): string | undefined {
  const octets = /^Max address space +(\d+)/m.exec(limits)?.[1];
  if (octets === undefined) return undefined;
  const limitMb = Math.floor(Number(octets) / 2 ** 20);
  const spaceMb = SPACE_PER_HEAP * heapMb;
  if (limitMb >= spaceMb + NON_HEAP_MB) return undefined;
  const mostMb = Math.floor((limitMb - NON_HEAP_MB) / SPACE_PER_HEAP);
  const smaller = mostMb < LEAST_HEAP_MB ? '' : `start the server with --heap ${mostMb}MB, or to `;
  return (
    `SBCL reserves ${spaceMb} MB of address space for a heap of ${heapMb} MB, and needs some more. This server may use only ` +
    `${limitMb} MB (ulimit -v). Ask the user to ${smaller}raise that limit.`
  );
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return ''; // The system is not Linux.
  }
}
