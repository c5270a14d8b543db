// Lists all hostile cases.

import type { Group } from '../case.ts';
import { ENDS } from './ends.ts';
import { FUNCTIONS } from './functions.ts';
import { LOOPS } from './loops.ts';
import { MEMORY } from './memory.ts';
import { OUTPUT } from './output.ts';
import { PROCESSES } from './processes.ts';
import { READING } from './reading.ts';
import { SESSION } from './session.ts';
import { THREADS } from './threads.ts';

export const GROUPS: readonly Group[] = [
  LOOPS,
  MEMORY,
  ENDS,
  OUTPUT,
  SESSION,
  FUNCTIONS,
  READING,
  THREADS,
  PROCESSES,
];
