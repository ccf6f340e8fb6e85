import type { TurnSummary } from '../../client/types.ts';
import { formatCost, formatCount, formatDuration, plural } from './numbers.ts';

/** One line of figures: steps, compactions, tokens, cost, time. */
export function turnFigures(turn: TurnSummary): string {
  const { usage } = turn;
  const cached = usage.cacheRead > 0 ? ` (${formatCount(usage.cacheRead)} from cache)` : '';
  const end = turn.endedAt === null ? Date.now() : Date.parse(turn.endedAt);
  const duration = formatDuration(end - Date.parse(turn.startedAt));
  // A command for an idle conversation, such as `compact`.
  if (turn.steps === 0 && turn.outcome === 'completed') {
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

/** By how much `resume` may raise what ended a turn, in the proportions of a usual task. */
const RAISES: Readonly<Record<string, string>> = {
  step_limit: '--steps +100',
  tool_call_limit: '--tool-calls +100',
  input_token_limit: '--input-tokens +1000000',
  output_token_limit: '--output-tokens +50000',
  cost_limit: '--cost +2',
  wall_time_limit: '--wall-time +600',
  // Of a conversation.
  idle_time_limit: '--idle-time +86400',
};

/** The command that goes on after an outcome, for the reason that it gave; `null` after one that needs nothing. */
export function nextCommand(outcome: string, reason: string | null, conversation: string): string | null {
  switch (outcome) {
    case 'completed':
      return null;
    case 'context_exhausted':
      return `npx holdfast context ${conversation}`;
    case 'budget_exhausted':
      if (reason === 'calls_repeated' || reason === 'compactions_without_progress') break;
      // A turn's own idle time begins anew.
      if (reason === 'idle_time_limit') return `npx holdfast resume ${conversation}`;
      return `npx holdfast resume ${conversation} ${RAISES[reason?.replace('conversation_', '') ?? ''] ?? '--help'}`;
    case 'stopped':
      return `npx holdfast resume ${conversation}`;
    case 'model_failed':
      return `npx holdfast show ${conversation}`;
  }
  return `npx holdfast send ${conversation} "…"`;
}
