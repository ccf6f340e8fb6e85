import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Temporal's native module and one Runtime per process: forks, not threads (facts of the SDK's own test suite).
    pool: 'forks',
    // Most tests wait for timers and servers rather than for a processor.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
  },
});
