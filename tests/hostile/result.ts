// Decides what the long run leaves: the table that it prints, and the data that docs/develop/robustness.md is made of.

import { join } from 'node:path';
import { writeMeasured } from '../measured.ts';
import type { Row } from './arena.ts';
import type { Flatness } from './ordinary.ts';
import type { Passage } from './sequences/sequence.ts';

export interface Result {
  machine: string;
  groups: { title: string; rows: Row[] }[];
  flatness: Omit<Flatness, 'samples'>;
  /** Damages with the work after them, on a machine with nothing else to do and on one with too much. */
  sequences: Passage[];
  underLoad: Passage[];
}

const FILE = join(import.meta.dirname, 'result.json');
const MACHINE = new URL('../../bench/machine.mjs', import.meta.url).href;

/** Writes RESULT to the file that scripts/robustness.mjs reads. */
export async function writeResult(result: Omit<Result, 'machine'>): Promise<void> {
  const { describeMachine } = (await import(MACHINE)) as { describeMachine: () => string };
  await writeMeasured(FILE, { machine: describeMachine(), ...result });
}

/** Returns ROW as a line of a table for the terminal. */
export function rowLine({ name, answerMs, nextMs, replaced, grownKb, outcome, breaches }: Row): string {
  const cells = [
    breaches.length === 0 ? 'ok  ' : 'FAIL',
    name.padEnd(60),
    `${Math.round(answerMs)} ms`.padStart(9),
    (replaced ? `replaced, ${Math.round(nextMs)} ms` : 'kept').padEnd(18),
    `${grownKb} kB`.padStart(9),
    outcome.slice(0, 70),
  ];
  return [cells.join('  '), ...breaches.map((breach) => `       ${breach}`)].join('\n');
}
