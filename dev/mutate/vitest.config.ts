import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import configuration from '../../vitest.config.ts';

/** Test files, relative to the project, in the order of their start. */
const order = z.array(z.string()).parse(JSON.parse(readFileSync(process.env['MUTATE_ORDER'] ?? '', 'utf8')));

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => order.findIndex((file) => moduleId.endsWith(`/${file}`));
    return files.toSorted((one, other) => rank(one) - rank(other));
  }
}

const { test = {} } = configuration;
const projects = (test.projects ?? []).map((project) => {
  if (typeof project !== 'object' || !('test' in project)) throw new Error('a project that is no object');
  const setupFiles = [fileURLToPath(new URL('note-test-file.ts', import.meta.url))];
  // Less patience than for tests that should pass: a mutation may have them wait for what never comes.
  return Object.assign(project, { test: { ...project.test, setupFiles, testTimeout: 120_000 } });
});

export default defineConfig({
  test: {
    ...test,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    ...(order.length > 0 && { sequence: { sequencer: InOrder } }),
    projects,
  },
});
