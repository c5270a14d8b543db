// Which random cases are tried: the same in each short run, so that none is red by chance; others in each long run. Answers
// that a test gets without a program are compared with their declarations.

import { join } from 'node:path';
import fc from 'fast-check';
import { checkAnswers } from './declared.ts';
import { LONG } from './long.ts';

/** The first case of each random test in a short run follows from this. */
export const SEED = 1;

fc.configureGlobal(LONG ? {} : { seed: SEED });

checkAnswers(join(import.meta.dirname, '..', 'dist-tests'));
