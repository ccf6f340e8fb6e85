import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take longest, in the order of their start: what waits runs beside what computes. */
const LONG = [
  'faults/network',
  'faults/servers',
  'package/package',
  'workflows/after-each-write',
  'dev/demo/demo',
  'dev/soak/run-soak',
  'server/pages',
  'local/dev',
  'server/clients',
  'workflows/step-reads',
  'workflows/frozen-worker',
  'workflows/rate-limit',
  'cli/decisions',
  'workflows/preset-wolffish',
  'activities/redacted-originals',
  'workflows/control',
  'activities/outlasting-work',
  'cli/services/reindex',
  'faults/clock',
  'workflows/shared-prefix',
  'workflows/by-reference',
  'workflows/decisions',
  'workflows/limits',
  'verify/verify',
];

/**
 * A long file that starts last would run alone at the end, on one core. And projects follow each other: a worker keeps its modules
 * only for files of one project, so that mixing them had 34 workers started instead of 8.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (project.name !== 'services') return LONG.length + 1;
      const index = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index === -1 ? LONG.length : index;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}
