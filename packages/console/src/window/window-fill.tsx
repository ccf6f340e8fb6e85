import type { ContextReport } from '../api/types.ts';
import { percent, tokens } from '../text/numbers.ts';

/** What fills the window of the next call, by kind. */
export function WindowFill({ context }: { readonly context: ContextReport }) {
  const kinds = [
    ['instructions and tools', context.fixed],
    ['summary', context.summary],
    ['your messages', context.userMessages],
    ['answers', context.assistantMessages],
    ['tool results', context.toolResults],
    ['notes', context.notes],
  ] as const;
  const whole = Math.max(context.inputBudget, context.total);
  const shown = kinds.map(([kind, fill], place) => ({ kind, fill, place })).filter(({ fill }) => fill > 0);
  return (
    <div className="window-fill">
      <p>
        Next call: {tokens(context.total)} of {tokens(context.inputBudget)} tokens{' '}
        <span className="quiet">({percent(context.total, context.inputBudget)})</span>
      </p>
      <div className="stack" aria-hidden="true">
        {shown.map(({ kind, fill, place }) => (
          <span key={kind} className={`kind-${place}`} style={{ width: `${(fill / whole) * 100}%` }} />
        ))}
      </div>
      <p className="quiet legend">
        {shown.map(({ kind, fill, place }) => (
          <span key={kind} className={`key kind-${place}`}>
            {kind} {tokens(fill)}
          </span>
        ))}
      </p>
    </div>
  );
}
