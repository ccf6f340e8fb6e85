import type { PresetFigures } from '../lab-figures.ts';
import type { ImportReport } from 'holdfast/internal/import/read/import-report.js';
import type { Replay } from '../replay/replay-session.ts';
import type { LabResult } from '../run-lab.ts';
import { fillChart, PRESET_COLOURS, VIEW_KINDS, viewLane } from './charts.ts';
import { dataTable, escaped, formatDollars, formatTokens, percent, shortTokens } from './markup.ts';
import { PAGE_STYLE } from './page-style.ts';

/** Sessions that get charts of their own; the tables are about all of them. */
const MOST_SESSIONS = 20;

/** A lab run as one file that needs nothing else. */
export function labPage(result: LabResult): string {
  const windows = [...new Set(result.presets.map(({ window }) => window))];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Holdfast lab</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>Holdfast lab</h1>
${introduction(result)}
${windows.map((window) => windowPart(result, window)).join('\n')}
<h2>What was read</h2>
${dataTable(['file', 'format', 'sessions', 'messages', 'answers', 'tool results', 'left out', 'unknown', 'problems'], result.files.map(fileRow), ['format', 'left out', 'unknown', 'problems'])}
<h2>What the figures mean</h2>
${explanations()}
</main>
</body>
</html>
`;
}

function introduction({ sessions, summarizers, pricedAs, seed, refused }: LabResult): string {
  const models = [...new Set(Object.values(summarizers))].map(escaped).join(', ');
  const refusals = refused.map(
    ({ name, window, problem }) =>
      `<p class="bad">Not run: ${escaped(name)} at ${shortTokens(window)}: ${escaped(problem)}</p>`,
  );
  return (
    `<p class="soft">${sessions} recorded ${sessions === 1 ? 'session' : 'sessions'}, replayed before every model call. ` +
    `Summaries by ${models}; prices of ${pricedAs.map(escaped).join(', ')}; facts drawn with seed ${seed}.</p>${refusals.join('')}`
  );
}

function windowPart(result: LabResult, window: number): string {
  const presets = result.presets.filter((figures) => figures.window === window);
  const replays = result.replays.filter(({ agent }) => agent.limits.window === window);
  const sessions = [...new Set(replays.map(({ session }) => session))];
  const shown = sessions.slice(0, MOST_SESSIONS);
  const left = sessions.length - shown.length;
  return `<h2>Window of ${formatTokens(window)} tokens</h2>
${dataTable(SENT_HEAD, presets.map(sentRow))}
${dataTable(FACTS_HEAD, presets.map(factsRow))}
<details><summary>Numbers in force</summary>${dataTable(NUMBERS_HEAD, presets.map(numbersRow))}</details>
${shown.map((session) => sessionPart(replays.filter((replay) => replay.session === session))).join('\n')}
${left > 0 ? `<p class="soft">${left} more sessions are in the tables.</p>` : ''}`;
}

function sessionPart(replays: readonly Replay[]): string {
  const [first] = replays;
  if (first === undefined) return '';
  const legend = replays.map(({ agent }, index) => ({
    name: agent.policy.name,
    colour: PRESET_COLOURS[index % PRESET_COLOURS.length] ?? '',
  }));
  return `<h3>${escaped(first.session.label)}</h3>
<p class="soft">How full the window was at each call</p>
${legendList(legend)}
${fillChart(replays)}
${replays.map((replay, index) => replayPart(replay, index === 0)).join('\n')}`;
}

function replayPart(replay: Replay, open: boolean): string {
  const { agent, steps, passes } = replay;
  const recorded =
    replay.session.compacted.length > 0
      ? '<li><i style="background:var(--bad)"></i>the recording agent compacted</li>'
      : '';
  const rows = passes.map((pass, index) => [
    String(index + 1),
    String(pass.step + 1),
    pass.reason,
    escaped(pass.form.replaceAll('_', ' ')),
    formatTokens(pass.tokensBefore),
    formatTokens(pass.tokensAfter),
    operationsText(pass.operations),
    String(pass.calls.length),
    formatTokens(pass.calls.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0)),
    `${pass.factsInView} of ${pass.facts}`,
    escaped(pass.failedForms.map(({ form, failure }) => `${form}: ${failure}`).join(', ')) || '–',
  ]);
  const table =
    rows.length === 0
      ? '<p class="soft">No pass: the session fits.</p>'
      : dataTable(
          [
            'pass',
            'before call',
            'reason',
            'form',
            'tokens before',
            'after',
            'shortened',
            'summary calls',
            'their tokens',
            'facts in view',
            'failed forms',
          ],
          rows,
          ['reason', 'form', 'shortened', 'failed forms'],
        );
  return `<details${open ? ' open' : ''}>
<summary><b>${escaped(agent.policy.name)}</b><span class="soft">${steps.length} calls, ${passesText(replay)}</span></summary>
${legendList(VIEW_KINDS, `<li><i class="dashed"></i>pass, trigger</li>${recorded}`)}
${viewLane(replay)}
${table}
</details>`;
}

function passesText({ passes, survival }: Replay): string {
  if (passes.length === 0) return 'no pass';
  const count = passes.length === 1 ? '1 pass' : `${passes.length} passes`;
  return `${count}, ${percent(survival.inView, survival.facts)} of the facts in view at the end`;
}

function operationsText({ clip, clear, strip }: Readonly<Record<'clip' | 'clear' | 'strip', number>>): string {
  const counts: readonly (readonly [number, string])[] = [
    [clip, 'clipped'],
    [clear, 'cleared'],
    [strip, 'stripped'],
  ];
  return counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ') || '–';
}

function legendList(items: readonly { readonly name: string; readonly colour: string }[], more = ''): string {
  const entries = items.map(({ name, colour }) => `<li><i style="background:${colour}"></i>${escaped(name)}</li>`);
  return `<ul class="legend">${entries.join('')}${more}</ul>`;
}

const SENT_HEAD = [
  'preset',
  'passes',
  'highest fill',
  'overflows',
  'ended',
  'summary calls',
  'summary tokens',
  'tokens sent',
  'cached',
  'cost',
  'without cache',
  'orphans',
];

function sentRow(figures: PresetFigures): string[] {
  const wrong = (count: number): string => (count === 0 ? '0' : `<span class="bad">${count}</span>`);
  return [
    escaped(figures.name),
    String(figures.passes),
    percent(figures.maxFill, 1),
    wrong(figures.overflows),
    wrong(figures.exhausted),
    `${figures.summaryCalls}${figures.summaryFailures === 0 ? '' : ` (${figures.summaryFailures} failed)`}`,
    formatTokens(figures.summaryTokens),
    formatTokens(figures.tokensSent),
    percent(figures.tokensCached, figures.tokensSent),
    formatDollars(figures.cost),
    formatDollars(figures.costWithoutCache),
    wrong(figures.orphans),
  ];
}

const FACTS_HEAD = [
  'preset',
  'facts',
  'in view',
  'tail',
  'user messages',
  'summary',
  'ledger',
  'by recall',
  'lost',
  'in view, summaries emptied',
  'by recall then',
  'lost, no recall',
];

function factsRow(figures: PresetFigures): string[] {
  const { facts, factsWhere, withoutSummaries, withoutRecall } = figures;
  const share = (count: number): string => percent(count, facts);
  return [
    escaped(figures.name),
    String(facts),
    `<b>${share(figures.factsInView)}</b>`,
    share(factsWhere.tail),
    share(factsWhere.userMessages),
    share(factsWhere.summary),
    share(factsWhere.ledger),
    share(figures.factsByRecall),
    share(figures.factsLost),
    share(withoutSummaries.factsInView),
    share(withoutSummaries.factsByRecall),
    share(facts - withoutRecall.factsInView),
  ];
}

const NUMBERS_HEAD = [
  'preset',
  'output reserve',
  'input budget',
  'trigger',
  'target',
  'tail',
  'user messages',
  'summary',
];

function numbersRow({ name, numbers }: PresetFigures): string[] {
  const { outputReserve, inputBudget, trigger, target, tail, userMessages, summaryOutput } = numbers;
  return [
    escaped(name),
    ...[outputReserve, inputBudget, trigger, target, tail, userMessages, summaryOutput].map(formatTokens),
  ];
}

function fileRow(report: ImportReport): string[] {
  const counts = (named: Readonly<Record<string, number>>): string =>
    Object.entries(named)
      .map(([name, count]) => `${escaped(name)} ${count}`)
      .join('<br>') || '–';
  const problems = report.problems.map(
    ({ code, count, lines }) => `${code} ${count}${lines.length === 0 ? '' : ` (line ${lines.join(', ')})`}`,
  );
  const { user, assistant, tool_result: results } = report.records;
  return [
    escaped(report.file),
    report.format,
    ...[report.sessions, user, assistant, results].map(formatTokens),
    counts(report.leftOut),
    counts(report.unknown),
    problems.join('<br>') || '–',
  ];
}

function explanations(): string {
  return `<p>Tokens are estimates by the rules that a turn plans with, before anything was learned of a model. Every request is taken to find the one before it in the provider's prompt cache; <i>cached</i> is the share of all tokens sent that the cache had.</p>
<p><i>Overflows</i> are requests over what the model accepts; <i>ended</i> counts calls that a turn would not have made because nothing could make the request fit. <i>Orphans</i> are tool results without their call; there must be none.</p>
<p>Facts are requirements of user messages, paths, identifiers, numbers and error lines found in originals that are no longer shown as they were. A fact is found in the tail (answers and results), in user messages, in what a model wrote of a summary, or in the ledger (what Holdfast appended to a summary, and notes); <i>by recall</i> counts those that are nowhere in view and come back by an id that the view names, or among the five passages that a search for the words around the fact shows.</p>`;
}
