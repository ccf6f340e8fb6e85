import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { formatBytes, formatCount, formatDuration, formatPercent, plural } from '../../src/cli/render/text/numbers.ts';
import { safeLine } from '../../src/cli/render/text/safe-text.ts';
import type { Style } from '../../src/cli/render/text/style.ts';
import { truncate } from '../../src/cli/render/text/text-width.ts';
import type { DemoResult } from './result.ts';

/** What the demo ends with: what was asked, what it took, and whether all of it is right. */
export function finalReportLines(result: DemoResult, plannedKills: number, style: Style): string[] {
  const rows = [...workRows(result), ...costRows(result, plannedKills), ...logRows(result)];
  const width = Math.max(...rows.map(([name]) => name.length));
  const verdict = result.ok
    ? style.green(`✓ ${result.factsRight} of ${result.factsExpected} facts are right; nothing is lost or doubled.`)
    : style.red(`✗ ${result.problems.map((problem) => safeLine(problem)).join('; ')}.`);
  return [
    '',
    ...rows.map(([name, value]) => `  ${style.dim(name.padEnd(width))}  ${value}`),
    '',
    verdict,
    // Without a report every fact is missing: what ended the turn says more.
    ...(result.outcome === 'completed' ? wrongLines(result) : explanationLines(result)),
  ];
}

type Row = readonly [name: string, value: string];

function workRows(result: DemoResult): readonly Row[] {
  const { filesRead, files, bytes, factsRight, factsExpected, steps, modelCalls, lookups } = result;
  return [
    ['files read', `${filesRead} of ${files} (${formatBytes(bytes)})`],
    ['facts right', `${factsRight} of ${factsExpected}`],
    [
      'model calls',
      `${formatCount(modelCalls)} (${plural(steps, 'step')}, ${modelCalls - steps} for summaries or repeated)`,
    ],
    ['recall', plural(lookups, 'lookup')],
  ];
}

function costRows(result: DemoResult, plannedKills: number): readonly Row[] {
  const { maxTokens, window, compactions, overflows, tokensWithoutCompaction, kills, takeoverMs } = result;
  const times = takeoverMs.map((milliseconds) => formatDuration(milliseconds)).join(', ');
  const missed = kills < plannedKills ? `; ${plannedKills - kills} of ${plannedKills} planned places not reached` : '';
  return [
    ['compactions', `${compactions} (${plural(overflows, 'overflow')} reported by the provider)`],
    [
      'highest window fill',
      `${formatCount(maxTokens)} of ${formatCount(window)} tokens (${formatPercent(maxTokens, window)})`,
    ],
    [
      result.outcome === 'completed' ? 'without compaction' : 'whole log',
      `${formatCount(tokensWithoutCompaction)} tokens in the last request: ${(tokensWithoutCompaction / window).toFixed(1)} windows`,
    ],
    ['worker kills', `${kills}${times === '' ? '' : ` (went on after ${times})`}${missed}`],
  ];
}

function logRows(result: DemoResult): readonly Row[] {
  const { entries, lostEntries, doubledEntries, historyBytes, historyEvents, continuedAsNew, turnMs, wallMs, steps } =
    result;
  return [
    ['log in Postgres', `${plural(entries, 'entry', 'entries')}, ${lostEntries} lost, ${doubledEntries} doubled`],
    [
      'history in Temporal',
      `${formatBytes(historyBytes)} in ${plural(historyEvents, 'event')} (${formatBytes(Math.round(historyBytes / Math.max(1, steps)))} a step), continued as new ${continuedAsNew} times`,
    ],
    ['time', `${formatDuration(turnMs)} for the turn, ${formatDuration(wallMs)} in all`],
  ];
}

function explanationLines({ explanation }: DemoResult): string[] {
  return explanation === null ? [] : [`  ${safeLine(explanation)}`];
}

const SHOWN_FACTS = 10;
const VALUE_COLUMNS = 60;

function wrongLines({ wrongFacts, factsExpected, factsRight }: DemoResult): string[] {
  const shown = wrongFacts.slice(0, SHOWN_FACTS);
  const more = factsExpected - factsRight - shown.length;
  const quoted = (text: string): string => `"${truncate(safeLine(text), VALUE_COLUMNS)}"`;
  return [
    ...shown.map(
      ({ item, fact, expected, found }) =>
        `  ${item} ${fact}: ${quoted(expected)} in the file, ${found === null ? 'nothing' : quoted(found)} in the report`,
    ),
    ...(more > 0 && shown.length > 0 ? [`  and ${more} more`] : []),
  ];
}

/** What to look at next. @param kept where a demo that is kept can be found; `null` when everything is removed */
export function nextStepLines(
  conversationId: string,
  kept: { readonly directory: string; readonly temporalUi: string | null; readonly report: string } | null,
): string[] {
  if (kept === null) {
    return [
      '',
      'Next: `npm run demo -- --keep` leaves it running, with the Temporal UI and the whole log to look at,',
      '      and `npx holdfast summaries last` to read what the summaries kept;',
      '      `npx holdfast dev` starts a stack of your own.',
    ];
  }
  const holdfast = `HOLDFAST_DIRECTORY=${kept.directory} npx holdfast`;
  return [
    '',
    'Everything is still running. In another terminal:',
    ...(kept.temporalUi === null
      ? []
      : [`  Temporal UI   ${kept.temporalUi}/namespaces/default/workflows/${turnWorkflowId(conversationId)}`]),
    `  summaries     ${holdfast} summaries ${conversationId}`,
    `  the log       ${holdfast} show ${conversationId}`,
    `  the window    ${holdfast} context ${conversationId}`,
    `  recall        ${holdfast} recall ${conversationId} "licence"`,
    `  the report    ${kept.report}`,
    'Ctrl-C stops it; the data stays in that folder.',
  ];
}
