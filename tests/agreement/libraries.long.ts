// The same of larger libraries, which do more while they are loaded.

import { test } from 'vitest';
import { expectAgreement } from './fresh.ts';

const LIBRARIES = [
  'hunchentoot',
  'drakma',
  'esrap',
  'cxml',
  'postmodern',
  'ironclad',
  'closer-mop',
  'cl-unicode',
  'clx',
];

test.each(LIBRARIES)('%s agrees with its files', expectAgreement);
