import { formatDuration, plural } from '../src/cli/render/numbers.ts';
import type { SoakResult } from './result.ts';

/** Violations that are listed; the JSON has all. */
const LISTED = 20;
/** Repeated calls and unknown outcomes that are listed. */
const LISTED_CALLS = 10;

export function reportLines(result: SoakResult): string[] {
  const counts = (record: Readonly<Record<string, number>>): string =>
    Object.entries(record)
      .map(([name, number]) => `${name} ${number}`)
      .join(', ');
  const takeovers = Object.entries(result.takeovers).map(
    ([kind, { median, p95, max }]) =>
      `    ${kind.padEnd(20)} median ${formatDuration(median)}, p95 ${formatDuration(p95)}, max ${formatDuration(max)}`,
  );
  const slowest = result.slowestTakeovers.map(
    ({ milliseconds, activity, attempt }) => `${formatDuration(milliseconds)} ${activity} (attempt ${attempt})`,
  );
  const { violations, missedTargets, repeatedModelCalls: repeated, unknownOutcomes } = result;
  return [
    `${plural(result.kills, 'kill')} by seed ${result.seed}: ${counts(result.killsByKind)}`,
    `  open activities hit  ${counts(result.hitActivities)}`,
    `  outcomes             ${counts(result.outcomes)} in ${plural(result.conversations, 'conversation')}`,
    '  takeover',
    ...takeovers,
    ...(slowest.length > 0 ? [`    slowest of workers   ${slowest.join(', ')}`] : []),
    `  messages             ${counts(result.messages)}`,
    `  compactions          ${counts(result.compactions)}; committed with a summary ${result.summaries}, forced ${result.forcedCompactions}, after an overflow ${result.overflowRecoveries}`,
    `  model calls repeated ${repeated.calls} (${repeated.extraTries} tries more, ${repeated.met} of them lost to strikes; strikes met ${repeated.exposed} model calls)`,
    ...listed(
      repeated.list.map(({ key, tries, met }) => `${key}: ${plural(tries, 'try', 'tries')}, ${met} lost to strikes`),
    ),
    `  effects              ${result.effects}; ${plural(unknownOutcomes.length, 'call')} with an unknown outcome`,
    ...listed(unknownOutcomes.map(({ key, tool, explainedBy }) => `${tool} ${key}: ${explainedBy ?? 'unexplained'}`)),
    `  histories read       ${result.histories}`,
    `  facts right          ${result.factsRight} of ${result.factsChecked}, in ${plural(result.reports, 'report')}; ${plural(result.reportsOwed, 'conversation')} that nobody stopped gave ${result.reportsGiven}`,
    `  settled              ${result.settledMilliseconds === null ? 'not in time' : formatDuration(result.settledMilliseconds)}`,
    `  time                 ${formatDuration(result.wallMilliseconds)}`,
    ...missedTargets.map((target) => `✗ target missed: ${target}`),
    ...violations.slice(0, LISTED).map(({ name, found }) => `✗ ${name}: ${found}`),
    ...(violations.length > LISTED ? [`  and ${violations.length - LISTED} more`] : []),
    `${result.ok ? '✓' : '✗'} ${plural(violations.length, 'violation')}`,
  ];
}

function listed(lines: readonly string[]): string[] {
  const shown = lines.slice(0, LISTED_CALLS).map((line) => `    ${line}`);
  return lines.length > LISTED_CALLS ? [...shown, `    and ${lines.length - LISTED_CALLS} more`] : shown;
}
