// Decides how the program runs for tests: it compares each answer of an image with what the operation declares.

import { join } from 'node:path';
import { checkAnswers } from './declared.ts';

if (process.env['LIVE_LISP_TEST_FORGES'] === undefined)
  checkAnswers(join(import.meta.dirname, '..', 'dist-tests'));

export { runProgram } from '../src/program.ts';
