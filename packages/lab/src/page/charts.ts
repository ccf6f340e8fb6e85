import type { WindowBreakdown } from 'holdfast/internal/context/plan/plan.js';
import { largestRequest } from '../replay/replay-session.ts';
import type { Replay } from '../replay/replay-session.ts';
import { escaped, shortTokens } from './markup.ts';

/** Columns of a chart at most: more would be narrower than a pixel. */
const MOST_COLUMNS = 600;
const WIDTH = 1_000;
const HEIGHT = 100;

/** Windows that a request fills at most in the chart: one preset far beyond would press the lines of all others flat. */
const HIGHEST_FILL = 1.5;

export type ViewKind = Exclude<keyof WindowBreakdown, 'total' | 'inputBudget' | 'window'>;

/** What a view consists of, from the bottom of the lane up. */
export const VIEW_KINDS: readonly { readonly kind: ViewKind; readonly name: string; readonly colour: string }[] = [
  { kind: 'fixed', name: 'instructions and tools', colour: 'var(--fixed)' },
  { kind: 'summary', name: 'summary', colour: 'var(--summary)' },
  { kind: 'userMessages', name: 'user messages', colour: 'var(--user)' },
  { kind: 'assistantMessages', name: 'answers', colour: 'var(--assistant)' },
  { kind: 'toolResults', name: 'tool results', colour: 'var(--results)' },
  { kind: 'notes', name: 'notes', colour: 'var(--notes)' },
];

export const PRESET_COLOURS = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `var(--p${number})`);

/** How full the window was at each call, one line per preset. */
export function fillChart(replays: readonly Replay[]): string {
  const window = replays[0]?.agent.limits.window ?? 1;
  const steps = Math.max(1, ...replays.map((replay) => replay.steps.length));
  const fullest = Math.max(1.05, ...replays.flatMap(({ steps }) => steps.map((step) => largestRequest(step) / window)));
  const top = Math.min(fullest, HIGHEST_FILL);
  const y = (share: number): number => round(HEIGHT * (1 - Math.min(share, top) / top));
  const lines = replays.map((replay, index) => {
    const largest = replay.steps.map((step) => ({ ...step.view, total: largestRequest(step) }));
    const points = columnsOf(largest).map(({ at, view }) => `${x(at, steps)},${y(view.total / window)}`);
    // A line of one point would not be seen.
    const drawn =
      points.length === 1 ? [...points, ...points.map((point) => point.replace(/^[^,]+/, String(WIDTH)))] : points;
    const colour = PRESET_COLOURS[index % PRESET_COLOURS.length] ?? '';
    return `<polyline points="${drawn.join(' ')}" style="stroke:${colour}"><title>${escaped(replay.agent.policy.name)}</title></polyline>`;
  });
  const shares = fullest > top ? [0, 0.25, 0.5, 0.75, 1, top] : [0, 0.25, 0.5, 0.75, 1];
  const grid = shares.map((share) => horizontal(y(share), share === 1 ? 'limit' : 'grid'));
  const scale = shares.map((share) => ({ at: y(share), text: `${share > 1 ? '≥' : ''}${share * 100}\u{a0}%` }));
  return frame({
    className: 'fill',
    title: 'Fill of the window at each model call',
    inside: [...grid, ...lines],
    scale,
    steps,
  });
}

/** What each call's view consisted of, with its passes and where the recording agent compacted. */
export function viewLane(replay: Replay): string {
  const { steps: all, passes, agent, session } = replay;
  const steps = Math.max(1, all.length);
  const top = Math.max(1, ...all.map((step) => step.view.total)) * 1.05;
  const y = (tokens: number): number => round(HEIGHT * (1 - tokens / top));
  const columns = columnsOf(all.map((step) => step.view));
  let below = columns.map(() => 0);
  const areas = VIEW_KINDS.map(({ kind, name, colour }) => {
    const base = below;
    below = columns.map(({ view }, index) => (base[index] ?? 0) + view[kind]);
    return area({ columns, base, upper: below, steps, y, name, colour });
  });
  const marks = [
    ...passes.map((pass) => vertical(x(pass.step, steps), 'pass', `pass before call ${pass.step + 1}`)),
    ...session.compacted.map(({ before }) =>
      vertical(x(callsBefore(replay, before), steps), 'recorded', 'the recording agent compacted here'),
    ),
  ];
  const trigger = agent.budget.trigger <= top ? [horizontal(y(agent.budget.trigger), 'limit')] : [];
  const scale = [0, top / 2.1, top / 1.05].map((tokens) => ({ at: y(tokens), text: shortTokens(tokens) }));
  return frame({
    className: 'lane',
    title: 'What the view of each call consisted of',
    inside: [...areas, ...trigger, ...marks],
    scale,
    steps,
  });
}

interface Column {
  readonly at: number;
  readonly view: WindowBreakdown;
}

/** One column per step; where there are too many, the fullest of each stretch. */
function columnsOf(views: readonly WindowBreakdown[]): Column[] {
  const size = Math.max(1, Math.ceil(views.length / MOST_COLUMNS));
  const columns: Column[] = [];
  for (let start = 0; start < views.length; start += size) {
    const stretch = views.slice(start, start + size).map((view, index) => ({ at: start + index, view }));
    columns.push(stretch.reduce((fullest, column) => (column.view.total > fullest.view.total ? column : fullest)));
  }
  return columns;
}

function area(of: {
  readonly columns: readonly Column[];
  readonly base: readonly number[];
  readonly upper: readonly number[];
  readonly steps: number;
  readonly y: (tokens: number) => number;
  readonly name: string;
  readonly colour: string;
}): string {
  const { columns, base, upper, steps, y, name, colour } = of;
  const edge = (values: readonly number[]): string[] =>
    columns.flatMap(({ at }, index) => {
      const height = y(values[index] ?? 0);
      const end = x(columns[index + 1]?.at ?? at + 1, steps);
      return [`${x(at, steps)},${height}`, `${end},${height}`];
    });
  const points = [...edge(upper), ...edge(base).reverse()].join(' ');
  return `<polygon points="${points}" style="fill:${colour}"><title>${escaped(name)}</title></polygon>`;
}

function callsBefore({ session }: Replay, position: number): number {
  return session.entries.slice(0, position).filter((entry) => entry.kind === 'assistant').length;
}

function x(step: number, steps: number): number {
  return round((WIDTH * step) / steps);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function horizontal(y: number, className: string): string {
  return `<line class="${className}" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`;
}

function vertical(at: number, className: string, title: string): string {
  return `<line class="${className}" x1="${at}" x2="${at}" y1="0" y2="${HEIGHT}"><title>${escaped(title)}</title></line>`;
}

/** Text stands outside the drawing, which is stretched to the page. */
function frame(of: {
  readonly className: string;
  readonly title: string;
  readonly inside: readonly string[];
  readonly scale: readonly { readonly at: number; readonly text: string }[];
  readonly steps: number;
}): string {
  const scale = of.scale.map(({ at, text }) => `<span style="top:${at}%">${text}</span>`).join('');
  const svg =
    `<svg class="${of.className}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escaped(of.title)}">` +
    `${of.inside.join('')}</svg>`;
  return `<div class="chart"><div class="scale">${scale}</div>${svg}<div class="steps"><span>call 1</span><span>call ${of.steps}</span></div></div>`;
}
