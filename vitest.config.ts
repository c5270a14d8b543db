import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. What is begun first leaves no worker idle at the end. */
const SLOW: string[] = JSON.parse(readFileSync(join(import.meta.dirname, 'tests', 'slow.json'), 'utf8'));

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW.indexOf(relative(import.meta.dirname, moduleId));
      return place === -1 ? SLOW.length : place;
    };
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

/** What the servers keep between their runs stays out of the user's own folder, and goes with the tests. No image serves
 *  them, such as one in which the user works. */
const env = {
  XDG_STATE_HOME: join(tmpdir(), `live-lisp-test-state-${process.pid}`),
  LIVE_LISP_SERVING: join(tmpdir(), `live-lisp-test-serving-${process.pid}`),
};

/** The settings of each file. */
export const EACH = {
  setupFiles: ['tests/seed.ts'],
  // Only what stands still for good takes so long, also where many others want the CPU.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // A process for each file, and the modules again in it, took an eighth of all CPU time. So no file changes what others
  // share: they have the modules of the program in common, and mock none.
  isolate: false,
  env,
};

/** The settings of a run: of its beginning and end, and of the order of its files. */
export const RUN = { globalSetup: ['tests/build.ts'], sequence: { sequencer: SlowFirst }, env };

// The tests drive real servers and images on few cores. Five files at a time keep two cores busy: half of a test is waiting;
// nothing is retried. Files named .alone.ts measure time: they run after the others, one by one.
export default defineConfig({
  test: {
    ...RUN,
    projects: [
      {
        test: {
          ...EACH,
          name: 'together',
          include: ['tests/**/*.test.ts'],
          maxWorkers: 5,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...EACH,
          name: 'alone',
          include: ['tests/**/*.alone.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
