import { defineConfig, mergeConfig } from 'vitest/config';
import short from './vitest.config.ts';

// What takes too long for each change: one file after the other, so that each has the machine for itself. Random cases are
// others each time.
export default mergeConfig(
  { ...short, test: { ...short.test, include: [], setupFiles: [] } },
  defineConfig({ test: { include: ['tests/**/*.long.ts'], maxWorkers: 1, testTimeout: 3_600_000 } }),
);
