import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './test/support/patience-ms.ts';
import { selectTests } from './test/support/selection.ts';
import Sequencer from './test/support/sequencer.ts';

const { quick, services, apart } = selectTests();
const globalSetup = ['test/support/global-setup.ts'];

export default defineConfig({
  test: {
    // Two workers: every worker may own a Redis, a few nodes and a browser, and the smallest machine has two cores.
    maxWorkers: 2,
    sequence: { sequencer: Sequencer },
    projects: [
      // One process for many files: to load every module anew for each of them takes longer than most of them do.
      { extends: true, test: { name: 'quick', include: [...quick], isolate: false } },
      { extends: true, test: { name: 'services', include: [...services], isolate: false, globalSetup } },
      { extends: true, test: { name: 'apart', include: [...apart], globalSetup } },
    ],
    // What a test waits for may be late on a busy machine.
    setupFiles: ['test/support/patience.ts'],
    expect: { poll: { timeout: PATIENCE_MS } },
    // Timings never decide a test: this only ends one that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
