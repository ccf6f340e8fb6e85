import type { ContextReport, ModelCall, Summary } from '../api/types.ts';
import { count, counted, dollars, percent, tokens } from '../text/numbers.ts';
import { KINDS } from './window-fill.tsx';

const WIDTH = 600;
const HEIGHT = 100;
const ROW_HEIGHT = 30;

interface WindowChartProps {
  readonly calls: readonly ModelCall[];
  /** There are calls before those. */
  readonly hasEarlier: boolean;
  readonly summaries: readonly Summary[];
  readonly context: ContextReport;
}

/** Tokens of each model call by kind, with the trigger, the compactions and the overflows; below, what each cost and what the cache served. */
export function WindowChart({ calls, hasEarlier, summaries, context }: WindowChartProps) {
  if (calls.length === 0) return null;
  const highest = Math.max(context.inputBudget, ...calls.map(fillOf));
  const trigger = HEIGHT - (context.trigger / highest) * HEIGHT;
  const [first] = calls;
  const shown = summaries.filter(({ createdAt }) => !hasEarlier || createdAt > (first?.startedAt ?? ''));
  const marks = shown.map(({ compactionId, createdAt }) => {
    const next = calls.findIndex(({ startedAt }) => startedAt > createdAt);
    return { compactionId, x: ((next === -1 ? calls.length : next) * WIDTH) / calls.length };
  });
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label="Tokens of each call">
        {calls.map((call, place) => (
          <g key={place}>
            <title>{titleOf(call)}</title>
            {partsOf(call, highest).map(({ className, y, height }) => (
              <rect key={className} className={className} {...bar(place, calls.length)} y={y} height={height} />
            ))}
          </g>
        ))}
        {marks.map(({ compactionId, x }) => (
          <line key={compactionId} className="compacted" x1={x} x2={x} y1={0} y2={HEIGHT} />
        ))}
        <line className="trigger" x1={0} x2={WIDTH} y1={trigger} y2={trigger} />
      </svg>
      <Bars label="Tokens of each call from the cache" className="cache" sizes={calls.map(cachedOf)} />
      <Bars label="Cost of each call" className="fill" sizes={calls.map(({ cost }) => cost ?? 0)} />
      <Legend calls={calls} hasEarlier={hasEarlier} summaries={shown} context={context} />
    </figure>
  );
}

function bar(place: number, bars: number) {
  const step = WIDTH / bars;
  return { x: place * step + step * 0.1, width: Math.max(0.5, step * 0.8) };
}

/** The parts of a call's bar, from the bottom up. */
function partsOf(call: ModelCall, highest: number) {
  const whole = (fillOf(call) / highest) * HEIGHT;
  const { fill } = call;
  if (fill === null || isOverflow(call)) {
    return [{ className: isOverflow(call) ? 'overflow' : 'fill', y: HEIGHT - whole, height: whole }];
  }
  const sizes = KINDS.map(([kind]) => fill[kind]);
  const sum = Math.max(1, sumOf(sizes));
  return sizes.map((size, place) => ({
    className: `kind-${place}`,
    y: HEIGHT - (sumOf(sizes.slice(0, place + 1)) / sum) * whole,
    height: (size / sum) * whole,
  }));
}

interface BarsProps {
  readonly label: string;
  readonly className: string;
  readonly sizes: readonly number[];
}

/** A low row of bars; nothing where all are 0. */
function Bars({ label, className, sizes }: BarsProps) {
  const highest = Math.max(...sizes);
  if (highest === 0) return null;
  const viewBox = `0 0 ${WIDTH} ${ROW_HEIGHT}`;
  return (
    <svg className="low" viewBox={viewBox} preserveAspectRatio="none" role="img" aria-label={label}>
      {sizes.map((size, place) => {
        const height = (size / highest) * ROW_HEIGHT;
        return (
          <rect
            key={place}
            className={className}
            {...bar(place, sizes.length)}
            y={ROW_HEIGHT - height}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function Legend({ calls, hasEarlier, summaries, context }: WindowChartProps) {
  const overflows = calls.filter(isOverflow).length;
  const reported = sumOf(calls.map(({ reportedTokens }) => reportedTokens ?? 0));
  return (
    <figcaption className="quiet legend">
      <span>
        {hasEarlier && 'the newest '}
        {counted(calls.length, 'call')}
      </span>
      <span className="key trigger">trigger {tokens(context.trigger)}</span>
      <span className="key compacted">{counted(summaries.length, 'compaction')}</span>
      {overflows > 0 && <span className="key overflow">{counted(overflows, 'overflow')}</span>}
      <span className="key cache">{percent(sumOf(calls.map(cachedOf)), reported)} from the cache</span>
      <span className="key fill">{dollars(sumOf(calls.map(({ cost }) => cost ?? 0)))}</span>
    </figcaption>
  );
}

function fillOf({ reportedTokens, estimatedTokens }: ModelCall): number {
  return reportedTokens ?? estimatedTokens;
}

function cachedOf({ cacheReadTokens }: ModelCall): number {
  return cacheReadTokens ?? 0;
}

function isOverflow({ failure }: ModelCall): boolean {
  return failure === 'overflow';
}

function titleOf(call: ModelCall): string {
  const cached = call.cacheReadTokens === null ? '' : `, ${count(call.cacheReadTokens)} from the cache`;
  const failure = call.failure === null ? '' : `, ${call.failure.replaceAll('_', ' ')}`;
  return `Turn ${call.turn}, call ${call.callNumber}: ${count(fillOf(call))} tokens${cached}, ${dollars(call.cost)}${failure}`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
