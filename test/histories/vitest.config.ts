import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** `npm run record-histories`: runs the recorder in place of the tests, with the same servers. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  {
    test: { root: fileURLToPath(new URL('../..', import.meta.url)), include: ['test/histories/record.ts'] },
  },
);
