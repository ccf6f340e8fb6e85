import { formName } from './compaction-state.ts';
import type { RunningCompaction } from './compaction-state.ts';
import type { LineOptions } from './item-lines.ts';
import { formatCount, formatDuration, plural } from './numbers.ts';
import type { CompactionFacts } from './read-event.ts';
import { safeLine } from './safe-text.ts';
import type { Style } from './style.ts';
import { displayWidth, truncate, wrapWords } from './text-width.ts';

/** Widest card: longer lines are tiring to read. */
const CARD_COLUMNS = 76;

/** The line in a pipe when a compaction begins; a terminal shows the card of the running one instead. */
export function compactionBegunLines(facts: CompactionFacts, options: LineOptions): string[] {
  if (options.columns !== null) return [];
  return [
    `  ~ compaction begins: ${[...cause(facts), ...begunSize(facts), ...counts(facts), ...work(facts)].join(', ')}`,
  ];
}

/** What a compaction did: targets, tokens before and after, form, time. */
export function compactionDoneLines(
  facts: CompactionFacts,
  durationMilliseconds: number | null,
  options: LineOptions,
): string[] {
  const time = durationMilliseconds === null ? [] : [formatDuration(durationMilliseconds)];
  const change = sizeChange(facts);
  if (options.columns === null) {
    return [`  = compaction done: ${[...change, ...work(facts), ...cause(facts), ...time].join(', ')}`];
  }
  const body = [...change, [...work(facts), ...time].join(' · ')];
  return card(
    `compacted${cause(facts)
      .map((words) => ` · ${words}`)
      .join('')}`,
    body,
    options.columns,
    options.style.green,
  );
}

/** The card while a compaction runs. */
export function runningCompactionLines(
  running: RunningCompaction,
  now: number,
  columns: number,
  style: Style,
): string[] {
  const { facts, written } = running;
  const parts = facts.parts ?? 0;
  const progress = parts === 0 ? [] : [`${Math.min(written, parts)} of ${plural(parts, 'part')} written`];
  const body = [
    [...begunSize(facts), ...work(facts)].join(' · '),
    counts(facts).join(''),
    [...progress, formatDuration(now - running.since)].join(' · '),
  ].filter((line) => line !== '');
  return card(
    `compacting${cause(facts)
      .map((words) => ` · ${words}`)
      .join('')}`,
    body,
    columns,
    style.yellow,
  );
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

const CAUSES: Readonly<Record<string, string>> = {
  threshold: 'the window is filling',
  overflow: 'the provider reported an overflow',
  manual: 'you asked for it',
  maintenance: 'old results are cleared after each turn',
};

function cause({ trigger, proactive = null }: CompactionFacts): string[] {
  if (trigger === null) return [];
  const label = proactive === null ? '' : proactive ? ' (proactive)' : ' (reactive)';
  return [`${CAUSES[trigger] ?? safeLine(trigger)}${label}`];
}

function begunSize({ tokensBefore, messages = null, targets = null }: CompactionFacts): string[] {
  return [
    ...(tokensBefore === null ? [] : [`${formatCount(tokensBefore)} tokens`]),
    ...(messages === null ? [] : [plural(messages, 'message')]),
    ...(targets === null ? [] : [plural(targets, 'target')]),
  ];
}

/** Why a pass can begin in a window that looks half empty: the policy may count more than the provider. */
function counts({ estimatedTokens = null, reportedTokens = null }: CompactionFacts): string[] {
  if (estimatedTokens === null || reportedTokens === null) return [];
  return [`estimated ${formatCount(estimatedTokens)}, reported ${formatCount(reportedTokens)}`];
}

function sizeChange({ tokensBefore, tokensAfter, targets = null }: CompactionFacts): string[] {
  if (tokensAfter === null) return [];
  if (tokensBefore === null) return [`${formatCount(tokensAfter)} tokens`];
  const saved =
    targets === null ? [] : [`${plural(targets, 'target')}, ${formatCount(tokensBefore - tokensAfter)} tokens saved`];
  const won = tokensBefore === 0 ? 0 : Math.round((1 - tokensAfter / tokensBefore) * 100);
  return [`${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens (−${won} %)`, ...saved];
}

/** The targets: what is summarized, and how many entries are shown shorter. */
function work({ form, parts, fromSequence, toSequence, operations }: CompactionFacts): string[] {
  const range = fromSequence === null || toSequence === null ? '' : ` of entries ${fromSequence}–${toSequence}`;
  const through = fromSequence === null && toSequence !== null ? ` through entry ${toSequence}` : '';
  const count = parts !== null && parts > 1 ? ` in ${parts} parts` : '';
  return [
    ...(form === null ? [] : [`${safeLine(formName(form))}${range}${through}${count}`]),
    ...(operations === null || operations === 0 ? [] : [`${plural(operations, 'entry', 'entries')} shown shorter`]),
  ];
}
