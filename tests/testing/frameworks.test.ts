// What run_tests tells of tests in the frameworks that Debian has.

import { describe } from 'vitest';
import { testDialect } from './contract.ts';
import { DIALECTS } from './workspaces.ts';

describe.each(DIALECTS)('tests of $name', (dialect) => testDialect(dialect));
