import { sleep } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import type { TurnDisplay } from './display.ts';
import { isHistoryLong } from './history-length.ts';
import type { LoopEnd } from './turn-end.ts';

/** A command for an idle conversation: a turn with no step. */
export async function obeyCommand(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<LoopEnd> {
  if (progress.branchRequested === true) return changeBranch(activities, progress, display);
  progress.callNumber += 1;
  const context = await fitContext(activities, progress, display);
  if (context.kind === 'history_full') return 'history_full';
  if (context.kind === 'limit') return { outcome: 'budget_exhausted', reason: context.reason };
  const isDeclined = context.kind !== 'ready' || context.declined === true;
  return { outcome: 'completed', reason: isDeclined ? 'nothing_to_compact' : null };
}

async function changeBranch(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<LoopEnd> {
  for (;;) {
    const { turn, limits } = progress;
    const change = await activities.changeBranch({ turn, ...(limits !== undefined && { limits }) });
    switch (change.kind) {
      case 'changed':
        return { outcome: 'completed', reason: null };
      case 'refused':
        return { outcome: 'completed', reason: change.reason };
      case 'wait':
        display.waitingForRateLimit(change.delayMilliseconds);
        await sleep(change.delayMilliseconds, { summary: 'rate limit' });
        display.rateLimitWaited();
        if (isHistoryLong()) return 'history_full';
        break;
    }
  }
}
