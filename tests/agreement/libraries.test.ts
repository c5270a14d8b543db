// Libraries that were just loaded agree with their files.

import { test } from 'vitest';
import { libraries } from '../libraries.ts';
import { expectAgreement } from './fresh.ts';

test.each(libraries('alexandria'))('%s agrees with its files', expectAgreement);
