import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take half a minute or more, in the order of their start: what waits runs beside what computes. */
const LONG = [
  'workflows/after-each-write',
  'workflows/preset-wolffish',
  'workflows/every-preset',
  'dev/soak/run-soak',
  'dev/demo/demo',
  'faults/network',
  'store/growth',
  'workflows/provider-limits',
  'workflows/step-reads',
  'workflows/rate-limit',
  'workflows/presets/goagent',
  'local/dev',
  'workflows/weaker-forms',
  'workflows/presets/opencode',
  'setup/set-up',
  'workflows/redeploy',
  'workflows/preset-cowork',
  'workflows/presets/pi',
  'workflows/model-mistakes',
  'workflows/loops',
  'workflows/by-reference',
  'workflows/bad-input',
  'faults/servers',
  'workflows/frozen-worker',
  'local/open-turn',
  'setup/run-command',
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
