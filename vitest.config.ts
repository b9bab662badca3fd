import { defineConfig } from 'vitest/config';
import { selectTests } from './test/support/selection.ts';

const { quick, others } = selectTests();

export default defineConfig({
  test: {
    // Two workers: every worker may own a Redis, a few nodes and a browser, and the smallest machine has two cores.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'quick', include: [...quick] } },
      {
        extends: true,
        test: { name: 'services', include: [...others], globalSetup: ['test/support/global-setup.ts'] },
      },
    ],
    // Timings never decide a test: this only ends one that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
