// Code that breaks what others rely on, writes without end, or waits for input, and tests that do: a part of the hostile
// cases, in one server.

import { FUNCTIONS } from './cases/functions.ts';
import { HELD } from './cases/held.ts';
import { OUTPUT } from './cases/output.ts';
import { READING } from './cases/reading.ts';
import { SESSION } from './cases/session.ts';
import { TESTS } from './cases/tests.ts';
import { THREADS } from './cases/threads.ts';
import { testCases } from './suite.ts';

testCases([OUTPUT, SESSION, FUNCTIONS, READING, THREADS, HELD, TESTS]);
