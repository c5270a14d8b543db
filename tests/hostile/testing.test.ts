// Tests that would hurt whoever runs them: a part of the hostile cases, in one server.

import { TESTS } from './cases/tests.ts';
import { testCases } from './suite.ts';

testCases([TESTS]);
