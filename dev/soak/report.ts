import { formatDuration, plural } from '../../src/cli/render/text/numbers.ts';
import type { Counts } from './check.ts';
import type { SoakResult } from './result.ts';
import type { Suspect } from './suspects.ts';

/** Violations that are listed; the JSON has all. */
const LISTED = 20;
/** Suspects that are listed. */
const LISTED_CALLS = 10;

/** @param wanted strikes that were asked for */
export function reportLines(result: SoakResult, wanted: number): string[] {
  const { violations, suspects } = result;
  const named = (name: Suspect['name']): readonly Suspect[] => suspects.filter((each) => each.name === name);
  const takeovers = Object.entries(result.takeovers).map(
    ([kind, { median, p95, max }]) =>
      `    ${kind.padEnd(20)} median ${formatDuration(median)}, p95 ${formatDuration(p95)}, max ${formatDuration(max)}`,
  );
  return [
    `${plural(result.kills, 'kill')} by seed ${result.seed}: ${countsText(result.killsByKind)}`,
    `  open work hit        ${countsText(result.hitActivities)}`,
    `  outcomes             ${countsText(result.outcomes)} in ${plural(result.conversations, 'conversation')}`,
    '  takeover',
    ...takeovers,
    `  messages             ${countsText(result.messages)}`,
    `  compactions          ${countsText(result.compactions)}`,
    `  model calls repeated ${plural(named('model_call_paid_again').length, 'try', 'tries')} more`,
    `  effects              ${result.effects}; ${plural(named('outcome_unknown').length, 'call')} with an unknown outcome`,
    ...listed(suspects.map(({ name, key, explainedBy }) => `${name} ${key}: ${explainedBy ?? 'unexplained'}`)),
    `  histories read       ${result.histories}`,
    `  facts right          ${result.factsRight} of ${result.factsChecked}, in ${plural(result.reports, 'report')}; ${plural(result.reportsOwed, 'conversation')} that nobody stopped gave ${result.reportsGiven}`,
    `  settled              ${formatDuration(result.settledMilliseconds)}`,
    `  time                 ${formatDuration(result.wallMilliseconds)}`,
    ...(result.kills < wanted ? [`✗ ${result.kills} of ${wanted} strikes in the time`] : []),
    ...violations.slice(0, LISTED).map(({ name, found }) => `✗ ${name}: ${found}`),
    ...(violations.length > LISTED ? [`  and ${violations.length - LISTED} more`] : []),
    `${result.ok ? '✓' : '✗'} ${plural(violations.length, 'violation')}`,
  ];
}

function countsText(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ');
}

function listed(lines: readonly string[]): string[] {
  const shown = lines.slice(0, LISTED_CALLS).map((line) => `    ${line}`);
  return lines.length > LISTED_CALLS ? [...shown, `    and ${lines.length - LISTED_CALLS} more`] : shown;
}
