import { configureGlobal } from 'fast-check';

// Properties try the same cases on every machine; another seed tries others.
configureGlobal({ seed: Number(process.env['HOLDFAST_TEST_SEED'] ?? 7) });
