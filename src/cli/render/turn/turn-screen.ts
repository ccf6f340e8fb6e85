import { waitingWords } from './waits.ts';
import { runningCompactionLines } from './compaction-card.ts';
import { drawBar, formatCost, formatCount, formatDuration, formatPercent, formatShortCount } from '../text/numbers.ts';
import { safeLine, safeText } from '../text/safe-text.ts';
import { withoutStyle } from '../text/style.ts';
import type { Style } from '../text/style.ts';
import { displayWidth, truncate, wrapWords } from '../text/text-width.ts';
import { shortArguments } from './tool-arguments.ts';
import type { TurnScreenState } from './turn-state.ts';

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What the last line says, for example how to leave. */
  readonly hint: string;
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MILLISECONDS = 100;
/** Tools shown by name; of more, the rest is a number. */
const SHOWN_TOOLS = 8;
/** Tool calls shown while their arguments are written; of more, the newest. */
const SHOWN_WRITTEN_CALLS = 4;
/** Milliseconds without an event after which the screen asks whether anybody works. */
export const QUIET_WAITING_MILLISECONDS = 4_000;
export const QUIET_WORKING_MILLISECONDS = 30_000;

/**
 * The part of the screen that is repainted: text as it is written, running tools, a running
 * compaction, the status line. Each line fits one row, all together fit the terminal.
 */
export function screenLines(state: TurnScreenState, options: ScreenOptions): string[] {
  const { columns, rows, style, now } = options;
  const spinner = SPINNER[Math.floor(now / FRAME_MILLISECONDS) % SPINNER.length] ?? '';
  const below = [
    ...state.tools.slice(0, SHOWN_TOOLS).map((tool) => {
      const time = formatDuration(now - tool.since);
      const name = safeLine(tool.reference.name);
      const { attempt = 1 } = tool.reference;
      const again = attempt > 1 ? ` (attempt ${attempt})` : '';
      const room = columns - 4 - displayWidth(name) - displayWidth(again) - displayWidth(time) - 4;
      const shown = tool.arguments === null || room < 8 ? '' : ` ${shortArguments(tool.arguments, room)}`;
      return truncate(`  ${spinner} ${name}${again}${shown}  ${time}`, columns);
    }),
    ...(state.tools.length > SHOWN_TOOLS
      ? [truncate(`    and ${state.tools.length - SHOWN_TOOLS} more`, columns)]
      : []),
    ...(state.compaction === null ? [] : runningCompactionLines(state.compaction, now, columns, style)),
  ];
  const warning = quietWarning(state, now);
  const foot = [
    ...(warning === null ? [] : wrapWords(`! ${warning}`, columns).map((line) => style.yellow(line))),
    statusLine(state, options, spinner),
    ...(rows > 6 ? [style.dim(truncate(options.hint, columns))] : []),
  ];
  const room = rows - 1 - below.length - foot.length;
  const text = liveRows(state, columns, Math.min(room, Math.ceil(rows * 0.6)), style);
  return [...text, ...below, ...foot].slice(-(rows - 1));
}

function liveRows({ live }: TurnScreenState, columns: number, most: number, style: Style): string[] {
  if (live === null || most < 2) return [];
  const writing = safeText(live.text.shown).trim();
  const shown = writing === '' ? safeText(live.thinking.shown).trim() : writing;
  const calls = [...live.calls.values()].slice(-Math.min(SHOWN_WRITTEN_CALLS, most - 1)).map((call) => {
    const name = safeLine(call.name);
    const written = headAndTail(safeLine(call.arguments.shown), columns - displayWidth(name) - 5);
    return style.dim(truncate(`  ✎ ${name} ${written}`, columns));
  });
  if (shown === '') return calls.length === 0 ? [] : ['', ...calls];
  const room = most - 1 - calls.length;
  const rows = room < 1 ? [] : wrapWords(shown, columns).slice(-room);
  return ['', ...(writing === '' ? rows.map((row) => style.dim(row)) : rows), ...calls];
}

/** Of arguments longer than the room: what the call is about, and what is written just now. */
function headAndTail(text: string, room: number): string {
  if (displayWidth(text) <= room || room < 24) return text;
  // Wide characters take two columns each; half of a pair at the cut is left out.
  const end = text
    .slice(-Math.floor((room - 3) / (displayWidth(text) > text.length ? 4 : 2)))
    .replace(/^[\uDC00-\uDFFF]/, '');
  return `${truncate(text, room - displayWidth(end) - 1)} ${end}`;
}

/** Step, window, cost, and what goes on, in as much as fits: what goes on is always there. */
function statusLine(state: TurnScreenState, { columns, style, now }: ScreenOptions, spinner: string): string {
  const { tokens, inputBudget, cost } = state;
  const doing = activityWords(state, now);
  const calling =
    state.activity.kind === 'calling' || state.activity.kind === 'retrying' || state.activity.kind === 'limited';
  const step = `step ${state.steps + (calling ? 1 : 0)}`;
  const money = cost === undefined ? [] : [formatCost(cost)];
  const fraction = tokens === null || inputBudget === null ? null : tokens / inputBudget;
  for (const { parts, barColumns } of [
    { parts: [step, windowWords(state, formatCount, ' of '), ...money], barColumns: 20 },
    { parts: [step, windowWords(state, formatShortCount, '/'), ...money], barColumns: 10 },
    { parts: [step, windowWords(state, formatShortCount, '/'), ...money], barColumns: 0 },
    { parts: [step, windowWords(state, formatShortCount, '/')], barColumns: 0 },
    { parts: [windowWords(state, formatShortCount, '/')], barColumns: 0 },
  ]) {
    const words = parts.filter((part) => part !== '').map((word) => `${style.dim(' · ')}${word}`);
    const bar = fraction === null || barColumns === 0 ? '' : ` ${windowBar(fraction, barColumns, style)}`;
    const line = `${style.cyan(spinner)} ${style.bold(doing)}${bar}${words.join('')}`;
    if (displayWidth(withoutStyle(line)) <= columns) return line;
  }
  return truncate(`${spinner} ${doing}`, columns);
}

function windowWords({ tokens, inputBudget }: TurnScreenState, format: (count: number) => string, of: string): string {
  if (tokens === null) return '';
  if (inputBudget === null) return `${format(tokens)} tokens`;
  return `${format(tokens)}${of}${format(inputBudget)} tokens (${formatPercent(tokens, inputBudget)})`;
}

function windowBar(fraction: number, columns: number, style: Style): string {
  const { filled, empty } = drawBar(fraction, columns);
  const color = fraction < 0.6 ? style.green : fraction < 0.85 ? style.yellow : style.red;
  return `${style.dim('▕')}${color(filled)}${empty}${style.dim('▏')}`;
}

function activityWords(state: TurnScreenState, now: number): string {
  const { activity, tools, compaction, live } = state;
  if (compaction !== null)
    return activity.kind === 'limited' && now < activity.until
      ? `compacting, ${waitingWords(activity, now)}`
      : 'compacting';
  if (activity.kind === 'unserved') return `waiting for a worker that has ${activity.need}`;
  const [first] = tools;
  if (first !== undefined)
    return tools.length === 1 ? `running ${safeLine(first.reference.name)}` : `running ${tools.length} tools`;
  switch (activity.kind) {
    case 'waiting':
      return 'waiting for a worker';
    case 'preparing':
      return 'preparing';
    case 'asking':
      return activity.calls.length === 1
        ? `waiting for you to decide on call ${activity.calls.join()}`
        : `waiting for you to decide on ${activity.calls.length} calls`;
    case 'limited':
      return waitingWords(activity, now);
    case 'retrying':
      if (activity.failure === 'overflow') return 'recovering from an overflow';
      return activity.status === 429 ? 'waiting for the rate limit' : 'waiting to call the model again';
    case 'calling': {
      const again = activity.call.attempt > 1 ? ` (attempt ${activity.call.attempt})` : '';
      const doing =
        live === null ? 'calling the model' : live.text.shown === '' && live.calls.size === 0 ? 'thinking' : 'writing';
      const quiet = now - state.heardAt;
      return `${doing}${again}${quiet > 5_000 ? ` ${Math.floor(quiet / 1_000)} s` : ''}`;
    }
    case 'ended':
      return activity.outcome.replaceAll('_', ' ');
  }
}

/** Says that nobody seems to work, and what to do; `null` while news come. */
export function quietWarning(state: TurnScreenState, now: number): string | null {
  const { activity } = state;
  if (activity.kind === 'ended') return null;
  if (state.outageSince !== null) {
    return `Postgres has not answered for ${Math.ceil((now - state.outageSince) / 1_000)} s; trying again. What is stored is safe.`;
  }
  // A person may take a day, and a worker that is not there was told.
  if (activity.kind === 'asking' || activity.kind === 'unserved') return null;
  // Until a wait for the provider is over no news can come.
  const quiet = now - Math.max(state.heardAt, activity.kind === 'limited' ? activity.until : 0);
  const seconds = `${Math.floor(quiet / 1_000)} s`;
  if (activity.kind === 'waiting') {
    if (quiet < QUIET_WAITING_MILLISECONDS) return null;
    return `The message has waited for a worker for ${seconds}. It is stored and will be taken. If no worker runs, start one with \`npx holdfast worker\`, or everything with \`npx holdfast dev\`.`;
  }
  // A running tool and a model that thinks may be silent for long.
  const patience = state.tools.length > 0 ? QUIET_WORKING_MILLISECONDS * 4 : QUIET_WORKING_MILLISECONDS;
  if (quiet < patience) return null;
  return `No news for ${seconds}. The turn goes on when the model answers, or, if its worker died, when another one runs: \`npx holdfast worker\`.`;
}
