import type { ContextReport, ModelCall, Summary } from '../api/types.ts';
import { count, counted, dollars, percent, tokens } from '../text/numbers.ts';

const WIDTH = 600;
const HEIGHT = 100;
const COST_HEIGHT = 30;

interface WindowChartProps {
  readonly calls: readonly ModelCall[];
  readonly summaries: readonly Summary[];
  readonly context: ContextReport;
}

/** Tokens of each model call beside the trigger, the compactions and the overflows; below, what each cost and what the cache served. */
export function WindowChart({ calls, summaries, context }: WindowChartProps) {
  if (calls.length === 0) return null;
  const step = WIDTH / calls.length;
  const bar = (place: number) => ({ x: place * step + step * 0.1, width: Math.max(0.5, step * 0.8) });
  const highest = Math.max(context.inputBudget, ...calls.map(fillOf));
  const highestCost = Math.max(...calls.map(({ cost }) => cost ?? 0));
  const heightOf = (fill: number): number => (fill / highest) * HEIGHT;
  const trigger = HEIGHT - heightOf(context.trigger);
  const marks = summaries.map(({ compactionId, createdAt }) => {
    const next = calls.findIndex(({ startedAt }) => startedAt > createdAt);
    return { compactionId, x: (next === -1 ? calls.length : next) * step };
  });
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label="Tokens of each call">
        {calls.map((call, place) => (
          <rect
            key={place}
            className={isOverflow(call) ? 'overflow' : 'fill'}
            {...bar(place)}
            y={HEIGHT - heightOf(fillOf(call))}
            height={heightOf(fillOf(call))}
          >
            <title>{titleOf(call)}</title>
          </rect>
        ))}
        {calls.map((call, place) => {
          const height = heightOf(call.cacheReadTokens ?? 0);
          return <rect key={place} className="cache" {...bar(place)} y={HEIGHT - height} height={height} />;
        })}
        {marks.map(({ compactionId, x }) => (
          <line key={compactionId} className="compacted" x1={x} x2={x} y1={0} y2={HEIGHT} />
        ))}
        <line className="trigger" x1={0} x2={WIDTH} y1={trigger} y2={trigger} />
      </svg>
      {highestCost > 0 && (
        <svg
          className="costs"
          viewBox={`0 0 ${WIDTH} ${COST_HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label="Cost of each call"
        >
          {calls.map(({ cost }, place) => {
            const height = ((cost ?? 0) / highestCost) * COST_HEIGHT;
            return <rect key={place} className="fill" {...bar(place)} y={COST_HEIGHT - height} height={height} />;
          })}
        </svg>
      )}
      <Legend calls={calls} summaries={summaries} context={context} />
    </figure>
  );
}

function Legend({ calls, summaries, context }: WindowChartProps) {
  const overflows = calls.filter(isOverflow).length;
  return (
    <figcaption className="quiet legend">
      <span className="key fill">{counted(calls.length, 'call')}</span>
      <span className="key cache">{cacheShare(calls)} from the cache</span>
      <span className="key trigger">trigger {tokens(context.trigger)}</span>
      <span className="key compacted">{counted(summaries.length, 'compaction')}</span>
      {overflows > 0 && <span className="key overflow">{counted(overflows, 'overflow')}</span>}
      <span>{costOf(calls)}</span>
    </figcaption>
  );
}

function fillOf({ reportedTokens, estimatedTokens }: ModelCall): number {
  return reportedTokens ?? estimatedTokens;
}

function isOverflow({ failure }: ModelCall): boolean {
  return failure === 'overflow';
}

function titleOf(call: ModelCall): string {
  const cached = call.cacheReadTokens === null ? '' : `, ${count(call.cacheReadTokens)} from the cache`;
  const failure = call.failure === null ? '' : `, ${call.failure.replaceAll('_', ' ')}`;
  return `Turn ${call.turn}, call ${call.callNumber}: ${count(fillOf(call))} tokens${cached}, ${dollars(call.cost)}${failure}`;
}

function cacheShare(calls: readonly ModelCall[]): string {
  const sum = (numbers: readonly (number | null)[]): number =>
    numbers.reduce<number>((all, each) => all + (each ?? 0), 0);
  return percent(
    sum(calls.map(({ cacheReadTokens }) => cacheReadTokens)),
    sum(calls.map(({ reportedTokens }) => reportedTokens)),
  );
}

function costOf(calls: readonly ModelCall[]): string {
  return dollars(calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0));
}
