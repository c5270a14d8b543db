// Decides how the program runs for a test that would only wait: with the times that the test gives it as JSON.

import { TIMES } from '../src/image/wire/times.ts';
import type { ProgramOptions } from '../src/program.ts';
import { runProgram as run } from './checked-program.ts';
import type { TestWaits } from './harness.ts';

const { image, ...waits } = JSON.parse(process.env['LIVE_LISP_TEST_WAITS'] ?? '{}') as TestWaits;

export function runProgram(options: ProgramOptions): Promise<void> {
  return run({ ...options, timeouts: { ...waits, image: { ...TIMES, ...image } } });
}
