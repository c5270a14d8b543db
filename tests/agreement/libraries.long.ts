// The same of larger libraries, which do more while they are loaded.

import { test } from 'vitest';
import { libraries } from '../libraries.ts';
import { expectAgreement } from './fresh.ts';

const LIBRARIES = libraries(
  'hunchentoot',
  'drakma',
  'esrap',
  'cxml',
  'postmodern',
  'ironclad',
  'closer-mop',
  'cl-unicode',
  'clx',
  'cl-ppcre',
  'fiveam',
);

test.each(LIBRARIES)('%s agrees with its files', expectAgreement);
