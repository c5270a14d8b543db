import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders with files that take longer than 10 s: what is begun first leaves no worker idle at the end. */
const SLOW = ['hostile', 'image', 'source', 'files', 'cli', 'sandbox', 'server', 'recovery', 'lisp-tools'];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW.findIndex((folder) => moduleId.includes(`/tests/${folder}/`));
      return place === -1 ? SLOW.length : place;
    };
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

// The tests drive real servers and images on few cores. Four files at a time keep two cores busy: much of a test is waiting;
// nothing is retried.
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/build.ts'],
    setupFiles: ['tests/seed.ts'],
    // Only what stands still for good takes so long, also where many others want the CPU.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 4,
    // A process for each file, and the modules again in it, took an eighth of all CPU time. So no file changes what others
    // share: they have the modules of the program in common, and mock none.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // What the servers keep between their runs stays out of the user's own folder, and goes with the tests.
    env: { XDG_STATE_HOME: join(tmpdir(), `live-lisp-test-state-${process.pid}`) },
  },
});
