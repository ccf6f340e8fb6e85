import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { hasChromium } from './test/support/chromium.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/** Folders whose tests need no Temporal and no Postgres. */
const MODULE_FOLDERS = [
  'api',
  'cli/follow',
  'cli/render',
  'config',
  'context',
  'models',
  'packages/console',
  'packages/simulator',
  'temporal',
  'tools',
  'turn',
];
const MODULE_TESTS = ['test/docs.test.ts', ...MODULE_FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`)];

const shared = {
  // Temporal's native module and one Runtime per process: forks, not threads (facts of the SDK's own test suite).
  pool: 'forks',
  // A worker keeps its modules from file to file: loading them anew for each takes more than a second of its processor.
  isolate: false,
  // For a busy machine: patience costs nothing where a test passes.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 240_000 } },
  allowOnly: false,
  setupFiles: 'test/support/same-cases.ts',
} as const;

/** Whether this process may mount a disk of its own: root on Linux, and not in every container. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mount-'));
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status !== 0) return false;
    spawnSync('umount', [folder]);
    return true;
  } finally {
    rmdirSync(folder);
  }
}

const isBrowserThere = hasChromium();
if (!isBrowserThere) {
  process.stderr.write('No Chromium: the tests of the pages are left out. HOLDFAST_CHROMIUM names one.\n');
}

/** Tests with real servers, which start when the first of them runs. */
export const serviceTests = {
  ...shared,
  name: 'services',
  include: ['test/**/*.test.ts'],
  exclude: [
    ...configDefaults.exclude,
    ...MODULE_TESTS,
    ...(canMount() ? [] : ['test/faults/full-disk.test.ts']),
    ...(isBrowserThere ? [] : ['test/server/pages*.test.ts']),
  ],
  globalSetup: ['test/support/start-servers.ts'],
  // Projects follow each other: a worker keeps its modules only for files of one, so that mixing them starts 34 workers instead of 8.
  sequence: { groupOrder: 1 },
};

const root = fileURLToPath(new URL('.', import.meta.url));
/** The packages and the examples of the documents import each other by name: as tsconfig.json says. */
const resolve = {
  alias: [
    { find: /^holdfast$/u, replacement: `${root}src/index.ts` },
    { find: /^holdfast\/internal\/(.*)\.js$/u, replacement: `${root}src/$1.ts` },
    { find: '@holdfast/simulator', replacement: `${root}packages/simulator/src/index.ts` },
  ],
};

const moduleTests = {
  ...shared,
  name: 'modules',
  include: MODULE_TESTS,
  globalSetup: ['test/support/watch-for-leaks.ts'],
  // They compute: more workers than processors would only load the same modules more often.
  maxWorkers: 2,
};

export default defineConfig({
  test: {
    // Most tests wait for timers and servers rather than for a processor.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      { resolve, test: moduleTests },
      { resolve, test: serviceTests },
    ],
  },
});
