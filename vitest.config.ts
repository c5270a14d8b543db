import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// The tests drive real servers and images on few cores: files run two at a time, and nothing is retried.
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/build.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // What the servers keep between their runs stays out of the user's own folder.
    env: { XDG_STATE_HOME: join(tmpdir(), 'live-lisp-test-state') },
  },
});
