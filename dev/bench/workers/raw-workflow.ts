import { proxyActivities } from '@temporalio/workflow';
import type { RawActivities } from './raw-activities.ts';

export interface RawTurnInput {
  readonly steps: number;
  /** Queue of the last two activities. On the workflow's own, Temporal hands them to its worker without a poll, as in Holdfast. */
  readonly workTaskQueue: string;
}

const OPTIONS = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '5 seconds' } as const;

/**
 * What Holdfast is compared with: as many steps of three activities, by the shortest code that does it.
 * @returns milliseconds that the bodies of each step took
 */
export async function rawTurn({ steps, workTaskQueue }: RawTurnInput): Promise<number[]> {
  const turn = proxyActivities<RawActivities>(OPTIONS);
  const work = proxyActivities<RawActivities>({ ...OPTIONS, taskQueue: workTaskQueue });
  const bodies: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const before = await turn.compactContext();
    const model = await work.callModel({ step });
    const tool = await work.runTool();
    bodies.push(before + model + tool);
  }
  return bodies;
}
