import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import type { ModelCall } from '../api/types.ts';
import { percent, tokens } from '../text/numbers.ts';

const WIDTH = 600;
const HEIGHT = 90;

interface WindowChartProps {
  readonly conversationId: string;
  readonly calls: readonly ModelCall[];
}

/** Tokens of each model call beside the trigger and the window, and what fills the next call. */
export function WindowChart({ conversationId, calls }: WindowChartProps) {
  const { data: context } = useQuery({
    queryKey: ['of-conversation', conversationId, 'context'],
    queryFn: () => read('/conversations/{conversationId}/context', { conversationId }),
  });
  if (context === undefined || calls.length === 0) return null;
  const fills = calls.map(({ reportedTokens, estimatedTokens }) => reportedTokens ?? estimatedTokens);
  const highest = Math.max(context.inputBudget, ...fills);
  const heightOf = (fill: number): number => (fill / highest) * HEIGHT;
  const step = WIDTH / calls.length;
  const trigger = HEIGHT - heightOf(context.trigger);
  const kinds = [
    ['fixed', context.fixed],
    ['summary', context.summary],
    ['user', context.userMessages],
    ['assistant', context.assistantMessages],
    ['tool results', context.toolResults],
    ['notes', context.notes],
  ] as const;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label="Tokens of each call">
        {fills.map((fill, place) => (
          <rect
            key={place}
            x={place * step}
            y={HEIGHT - heightOf(fill)}
            width={Math.max(1, step * 0.8)}
            height={heightOf(fill)}
          />
        ))}
        <line x1={0} x2={WIDTH} y1={trigger} y2={trigger} />
      </svg>
      <figcaption className="quiet facts">
        <span>
          {calls.length} calls; the line is the trigger at {tokens(context.trigger)} of {tokens(context.inputBudget)}{' '}
          tokens
        </span>
        <span>
          next call: {tokens(context.total)} ({percent(context.total, context.inputBudget)})
        </span>
        {kinds
          .filter(([, fill]) => fill > 0)
          .map(([kind, fill]) => (
            <span key={kind}>
              {kind} {tokens(fill)}
            </span>
          ))}
      </figcaption>
    </figure>
  );
}
