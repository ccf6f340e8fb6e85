import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { serviceTests } from '../../vitest.config.ts';

/** `npm run test:llama`: tests against a real model server, with the same Temporal and Postgres as all others. */
export default defineConfig({
  test: {
    ...serviceTests,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/llama/real-server.ts'],
    // A tiny model on one thread reads about 100 tokens a second.
    testTimeout: 180_000,
  },
});
