import { raiseFlag } from '../../../turn/explain-outcome.ts';
import type { TurnSummary } from '../../../client/types.ts';
import { formatCost, formatCount, formatDuration, plural } from '../text/numbers.ts';

/** One line of figures: steps, compactions, tokens, cost, time. */
export function turnFigures(turn: TurnSummary): string {
  const { usage } = turn;
  const cached = usage.cacheRead > 0 ? ` (${formatCount(usage.cacheRead)} from cache)` : '';
  const end = turn.endedAt === null ? Date.now() : Date.parse(turn.endedAt);
  const duration = formatDuration(end - Date.parse(turn.startedAt));
  // A command for an idle conversation, such as `compact`.
  if (turn.commandOnly && turn.outcome === 'completed') {
    return ['a command, no model step', plural(turn.compactions, 'compaction'), formatCost(turn.cost), duration].join(
      ' · ',
    );
  }
  return [
    plural(turn.steps, 'step'),
    ...(turn.compactions > 0 ? [plural(turn.compactions, 'compaction')] : []),
    ...(turn.overflows > 0 ? [plural(turn.overflows, 'overflow')] : []),
    `${formatCount(usage.input)} tokens in${cached}, ${formatCount(usage.output)} out`,
    formatCost(turn.cost),
    duration,
  ].join(' · ');
}

/** The command that goes on after an outcome, for the reason that it gave; `null` after one that needs nothing. */
export function nextCommand(
  outcome: string,
  reason: string | null,
  conversation: string,
  turn: Pick<TurnSummary, 'commandOnly' | 'tookMessages'> | null = null,
): string | null {
  switch (outcome) {
    case 'completed':
      return null;
    case 'context_exhausted':
      return `npx holdfast context ${conversation}`;
    case 'budget_exhausted':
      if (reason === 'calls_repeated' || reason === 'compactions_without_progress') break;
      return ['npx holdfast resume', conversation, raiseFlag(reason) ?? ''].join(' ').trimEnd();
    case 'stopped':
      // In a command that was stopped before anything was asked there is nothing to go on with.
      if (turn?.commandOnly === true && !turn.tookMessages) break;
      return `npx holdfast resume ${conversation}`;
    case 'model_failed':
      return `npx holdfast show ${conversation}`;
  }
  return `npx holdfast send ${conversation} "…"`;
}
