import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take longest, in the order of their start: what waits runs beside what computes. */
const LONG = [
  'faults/network',
  'faults/servers',
  'package/package',
  'dev/demo/demo',
  'server/pages',
  'workflows/after-each-write',
  'local/dev',
  'server/contract',
  'workflows/step-reads',
  'server/acp',
  'workflows/by-reference',
  'worker/worker-session',
  'server/clients',
  'dev/soak/run-soak',
  'workflows/limits',
  'verify/verify',
  'packages/lab/replay',
  'cli/decisions',
  'workflows/rate-limit',
  'workflows/presets/goagent',
  'packages/lab/request-cache',
  'workflows/control',
  'store/search/embeddings',
  'workflows/redeploy',
  'local/open-turn',
  'server/responses',
  'workflows/compaction',
  'workflows/frozen-worker',
  'cli/branches',
  'dev/fidelity',
  'server/tenants',
  'local/stack',
  'workflows/scripted-turns',
  'store/migrate',
  'cli/services/reindex',
  'faults/clock',
  'packages/lab/lab-command',
  'workflows/decisions',
  'cli/services',
  'cli/interruption',
  'workflows/outcomes',
  'workflows/preset-wolffish',
  'workflows/bad-input',
  'setup/set-up',
  'store/lost-connections',
  'workflows/overflow',
  'local/postgres/postgres',
  'workflows/fallback',
  'workflows/memories',
  'workflows/temporal-controls',
  'store/conversation-file',
  'workflows/presets/own-compaction',
  'cli/work/start',
  'workflows/presets/pi',
  'workflows/stop-while-waiting',
  'workflows/presets/opencode',
  'cli/work/chat',
  'cli/branch-waits',
  'store/view',
  'faults/full-disk',
  'workflows/learned-window',
  'store/summary-reading',
  'cli/archive',
  'cli/commands',
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
