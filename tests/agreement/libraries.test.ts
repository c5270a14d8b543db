// Libraries that were just loaded agree with their files.

import { test } from 'vitest';
import { expectAgreement } from './fresh.ts';

test.each(['alexandria', 'cl-ppcre', 'fiveam'])('%s agrees with its files', expectAgreement);
