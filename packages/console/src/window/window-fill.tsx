import type { ContextReport, ModelCall } from '../api/types.ts';
import { percent, tokens } from '../text/numbers.ts';

export type Fill = NonNullable<ModelCall['fill']>;

/** Kinds of content in the order of their colours. */
export const KINDS = [
  ['fixed', 'instructions and tools'],
  ['summary', 'summary'],
  ['userMessages', 'your messages'],
  ['assistantMessages', 'answers'],
  ['toolResults', 'tool results'],
  ['notes', 'notes'],
] as const satisfies readonly (readonly [keyof Fill, string])[];

/** What fills the window of the next call. */
export function WindowFill({ context }: { readonly context: ContextReport }) {
  return (
    <div>
      <p>
        Next call: {tokens(context.total)} of {tokens(context.inputBudget)} tokens{' '}
        <span className="quiet">({percent(context.total, context.inputBudget)})</span>
      </p>
      <FillByKind fill={context} whole={Math.max(context.inputBudget, context.total)} />
    </div>
  );
}

/** Tokens by kind, as parts of a whole. */
export function FillByKind({ fill, whole }: { readonly fill: Fill; readonly whole: number }) {
  const shown = KINDS.map(([key, kind], place) => ({ kind, place, size: fill[key] })).filter(({ size }) => size > 0);
  return (
    <>
      <div className="stack" aria-hidden="true">
        {shown.map(({ kind, size, place }) => (
          <span key={kind} className={`kind-${place}`} style={{ width: `${(size / whole) * 100}%` }} />
        ))}
      </div>
      <p className="quiet legend">
        {shown.map(({ kind, size, place }) => (
          <span key={kind} className={`key kind-${place}`}>
            {kind} {tokens(size)}
          </span>
        ))}
      </p>
    </>
  );
}
