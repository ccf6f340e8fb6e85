import { formName } from './compaction-state.ts';
import type { CommittedCompaction, CompactionPlan, RunningCompaction } from './compaction-state.ts';
import type { LineOptions } from './item-lines.ts';
import { formatCount, formatDuration, plural } from '../text/numbers.ts';
import type { Style } from '../text/style.ts';
import { displayWidth, truncate, wrapWords } from '../text/text-width.ts';

/** Widest card: longer lines are tiring to read. */
const CARD_COLUMNS = 76;

/** The line in a pipe when a compaction begins; a terminal shows the card of the running one instead. */
export function compactionBegunLines(plan: CompactionPlan, options: LineOptions): string[] {
  if (options.columns !== null) return [];
  return [
    `  ~ compaction begins: ${[...cause(plan), ...begunSize(plan), ...counts(plan), ...work(plan, plan.parts)].join(', ')}`,
  ];
}

/** What a compaction did: messages changed, tokens before and after, form, time. */
export function compactionDoneLines(done: CommittedCompaction, options: LineOptions): string[] {
  const time = formatDuration(done.durationMilliseconds);
  const through = done.coveredThroughSequence === null ? '' : ` through entry ${done.coveredThroughSequence}`;
  const [form = '', ...shorter] = work(done);
  const result = [`${form}${through}`, ...shorter];
  if (options.columns === null) {
    return [`  = compaction done: ${[...sizeChange(done), ...result, ...cause(done), time].join(', ')}`];
  }
  const title = ['compacted', ...cause(done)].join(' · ');
  return card(title, [...sizeChange(done), [...result, time].join(' · ')], options.columns, options.style.green);
}

/** The card while a compaction runs. */
export function runningCompactionLines(
  running: RunningCompaction,
  now: number,
  columns: number,
  style: Style,
): string[] {
  const { plan, written } = running;
  const { parts } = plan;
  const progress = parts === 0 ? [] : [`${Math.min(written, parts)} of ${plural(parts, 'part')} written`];
  const body = [
    [...begunSize(plan), ...work(plan, parts)].join(' · '),
    counts(plan).join(''),
    [...progress, formatDuration(now - running.since)].join(' · '),
  ].filter((line) => line !== '');
  return card(['compacting', ...cause(plan)].join(' · '), body, columns, style.yellow);
}

function card(title: string, body: readonly string[], columns: number, color: (text: string) => string): string[] {
  const width = Math.min(CARD_COLUMNS, columns - 2);
  // No room for a frame: the words alone.
  if (width < 24) return [title, ...body].map((line) => truncate(`  ${line}`, columns));
  const head = truncate(title, width - 5);
  const top = `  ${color('╭─')} ${head} ${color('─'.repeat(Math.max(0, width - displayWidth(head) - 4)))}`;
  const lines = body.flatMap((line) => wrapWords(line, width - 2)).map((line) => `  ${color('│')} ${line}`);
  return [top, ...lines, `  ${color(`╰${'─'.repeat(width - 1)}`)}`];
}

const CAUSES: Readonly<Record<CompactionPlan['reason'], string>> = {
  threshold: 'the window is filling',
  overflow: 'the provider reported an overflow',
  manual: 'you asked for it',
  maintenance: 'old results are cleared after each turn',
};

function cause({ reason, proactive }: Pick<CompactionPlan, 'reason' | 'proactive'>): string[] {
  // Who asked for a compaction does not ask whether the view still fitted.
  const label = proactive === null || reason === 'manual' ? '' : proactive ? ' (proactive)' : ' (reactive)';
  return [`${CAUSES[reason]}${label}`];
}

function begunSize({ tokensBefore, messages, messagesChanged }: CompactionPlan): string[] {
  return [
    `${formatCount(tokensBefore)} tokens`,
    ...(messages === null ? [] : [plural(messages, 'message')]),
    ...(messagesChanged === null ? [] : [`${formatCount(messagesChanged)} to change`]),
  ];
}

/** Why a pass can begin in a window that looks half empty: the policy may count more than the provider. */
function counts({ estimatedTokens, reportedTokens }: CompactionPlan): string[] {
  if (estimatedTokens == null || reportedTokens == null) return [];
  return [`estimated ${formatCount(estimatedTokens)}, reported ${formatCount(reportedTokens)}`];
}

function sizeChange({ tokensBefore, tokensAfter, tokensSaved, messagesChanged }: CommittedCompaction): string[] {
  const saved =
    messagesChanged === null
      ? []
      : [`${plural(messagesChanged, 'message')} changed, ${formatCount(tokensSaved)} tokens saved`];
  const won = tokensBefore === 0 ? 0 : Math.round((tokensSaved / tokensBefore) * 100);
  return [`${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens (−${won} %)`, ...saved];
}

/** What is summarized, and how many entries are shown shorter. */
function work({ form, operations }: Pick<CompactionPlan, 'form' | 'operations'>, parts = 1): string[] {
  return [
    `${formName(form)}${parts > 1 ? ` in ${parts} parts` : ''}`,
    ...(operations === 0 ? [] : [`${plural(operations, 'entry', 'entries')} shown shorter`]),
  ];
}
