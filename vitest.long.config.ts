import { defineConfig } from 'vitest/config';
import { EACH, RUN } from './vitest.config.ts';

// What takes too long for each change: one file after the other, so that each has the machine for itself. Random cases are
// others each time.
export default defineConfig({
  test: {
    ...EACH,
    ...RUN,
    setupFiles: [],
    include: ['tests/**/*.long.ts'],
    maxWorkers: 1,
    testTimeout: 3_600_000,
  },
});
