import { defineConfig } from 'vitest/config';

// The tests drive real servers and images on few cores: files run two at a time, and nothing is retried.
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/build.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
