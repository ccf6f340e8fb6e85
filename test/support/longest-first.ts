import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take half a minute or more, in the order of their start: what waits runs beside what computes. */
const LONG = [
  'workflows/after-each-write',
  'faults/network',
  'workflows/weaker-forms',
  'workflows/preset-wolffish',
  'workflows/presets/goagent',
  'demo/demo',
  'workflows/frozen-worker',
  'workflows/presets/pi',
  'faults/servers',
  'workflows/presets/opencode',
  'workflows/preset-cowork',
  'workflows/by-reference',
  'workflows/redeploy',
  'soak/run-soak',
  'workflows/every-preset',
  'local/dev',
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
