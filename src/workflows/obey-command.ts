import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import type { TurnDisplay } from './display.ts';
import type { TurnEnd } from './turn-end.ts';

/** A command for an idle conversation: a turn with no step. */
export async function obeyCommand(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<TurnEnd> {
  if (progress.settings.branchRequested === true) return changeBranch(activities, progress);
  progress.callNumber += 1;
  const context = await fitContext(activities, progress, display);
  if (context.kind === 'limit') return { outcome: 'budget_exhausted', reason: context.reason };
  const isDeclined = context.kind !== 'ready' || context.declined === true;
  return { outcome: 'completed', reason: isDeclined ? 'nothing_to_compact' : null };
}

async function changeBranch(activities: TurnActivities, { turn }: TurnProgress): Promise<TurnEnd> {
  const change = await activities.changeBranch({ turn });
  return { outcome: 'completed', reason: change.kind === 'refused' ? change.reason : null };
}
