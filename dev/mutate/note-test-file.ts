import { relative } from 'node:path';
import { expect } from 'vitest';
import { TEST_VARIABLE } from './probes.ts';

// Vitest runs this before each test file; processes that the tests start inherit it.
process.env[TEST_VARIABLE] = relative(process.cwd(), expect.getState().testPath ?? '');
