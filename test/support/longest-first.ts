import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take longest, in the order of their start: what waits runs beside what computes. */
const LONG = [
  'faults/servers',
  'faults/network',
  'package/package',
  'workflows/after-each-write',
  'dev/demo/demo',
  'server/pages',
  'local/dev',
  'workflows/step-reads',
  'workflows/by-reference',
  'dev/soak/run-soak',
  'worker/worker-session',
  'server/contract',
  'server/acp',
  'server/clients',
  'verify/verify',
  'workflows/presets/goagent',
  'store/search/embeddings',
  'local/open-turn',
  'cli/decisions',
  'workflows/redeploy',
  'workflows/control',
  'workflows/scripted-turns',
  'workflows/rate-limit',
  'workflows/compaction',
  'workflows/model-mistakes',
  'server/responses',
  'workflows/limits',
  'cli/interruption',
  'store/migrate',
  'local/stack',
  'store/lost-connections',
  'workflows/preset-wolffish',
  'workflows/shared-prefix',
  'store/conversation-file',
  'packages/lab/replay',
  'cli/services',
  'workflows/frozen-worker',
  'activities/outlasting-work',
  'cli/work/start',
  'workflows/presets/pi',
  'faults/clock',
  'workflows/stop-while-waiting',
  'local/postgres/postgres',
  'workflows/outcomes',
  'cli/branches',
  'store/search/filters',
  'faults/full-disk',
  'packages/lab/same-as-a-turn',
  'workflows/temporal-controls',
  'workflows/overflow',
];

/** A long file that starts last would run alone at the end, on one core. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index === -1 ? LONG.length : index;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}
