import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Two workers: every worker may own a Redis, a few nodes and a browser, and the smallest machine has two cores.
    maxWorkers: 2,
    // Timings never decide a test: this only ends one that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
