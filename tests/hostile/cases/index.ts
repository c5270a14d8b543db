// Lists all hostile cases.

import type { Group } from '../case.ts';
import { DESCRIPTORS } from './descriptors.ts';
import { ENDS } from './ends.ts';
import { FUNCTIONS } from './functions.ts';
import { HELD } from './held.ts';
import { LOOPS } from './loops.ts';
import { MEMORY } from './memory.ts';
import { OUTPUT } from './output.ts';
import { PROCESSES } from './processes.ts';
import { READING } from './reading.ts';
import { SESSION } from './session.ts';
import { SIGNALS } from './signals.ts';
import { STACKS } from './stacks.ts';
import { TESTS } from './tests.ts';
import { THREADS } from './threads.ts';

export const GROUPS: readonly Group[] = [
  LOOPS,
  MEMORY,
  STACKS,
  ENDS,
  SIGNALS,
  DESCRIPTORS,
  OUTPUT,
  SESSION,
  FUNCTIONS,
  READING,
  THREADS,
  HELD,
  PROCESSES,
  TESTS,
];
