// Code that never ends, uses up memory, or ends the process: a part of the hostile cases, in one server.

import { DESCRIPTORS } from './cases/descriptors.ts';
import { ENDS } from './cases/ends.ts';
import { LOOPS } from './cases/loops.ts';
import { MEMORY } from './cases/memory.ts';
import { PROCESSES } from './cases/processes.ts';
import { SIGNALS } from './cases/signals.ts';
import { STACKS } from './cases/stacks.ts';
import { testCases } from './suite.ts';

testCases([LOOPS, MEMORY, STACKS, ENDS, SIGNALS, DESCRIPTORS, PROCESSES]);
