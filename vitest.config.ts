import { defineConfig } from 'vitest/config';

/** Loading every module anew for each file takes a sixth of the time; these change nothing that others could see. */
const SHARED = [
  'architecture',
  'database',
  'doors',
  'engine',
  'protocol',
  'records',
  'reference',
  'room',
  'server',
  'webhooks',
];
const shared = SHARED.map((folder) => `test/${folder}/**/*.test.ts`);
const all = ['test/**/*.test.ts'];

// Timings never decide a test: this only ends one that hangs.
const patience = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Three workers on the smallest machine's two cores: the longest files mostly wait, for time-outs of real browsers. More
    // would be in each other's way, for every worker may own a Redis, a few nodes and a browser.
    maxWorkers: 3,
    projects: [
      { test: { name: 'shared', include: shared, isolate: false, ...patience } },
      // Browsers' globals, fake timers, modules that are looked at: each file has a world of its own.
      { test: { name: 'apart', include: all, exclude: shared, ...patience } },
    ],
  },
});
