import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { serviceTests } from '../../vitest.config.ts';

/** `npm run record-histories`: runs the recorder in place of the tests, with the same servers. */
export default defineConfig({
  test: {
    ...serviceTests,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/histories/record.ts'],
  },
});
