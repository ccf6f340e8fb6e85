import { formatDuration, plural } from '../src/cli/render/numbers.ts';
import type { SoakResult } from './result.ts';

/** Violations that are listed; the JSON has all. */
const LISTED = 20;

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
  const { violations, missedTargets } = result;
  return [
    `${plural(result.kills, 'kill')} by seed ${result.seed}: ${counts(result.killsByKind)}`,
    `  open activities hit  ${counts(result.hitActivities)}`,
    `  outcomes             ${counts(result.outcomes)} in ${plural(result.conversations, 'conversation')}`,
    '  takeover',
    ...takeovers,
    ...(slowest.length > 0 ? [`    slowest of workers   ${slowest.join(', ')}`] : []),
    `  model calls repeated ${result.repeatedModelCalls.calls} (${result.repeatedModelCalls.extraTries} tries more; strikes met ${result.repeatedModelCalls.met})`,
    `  effects              ${result.effects}, ${result.unknownOutcomes} calls with an unknown outcome`,
    `  facts right          ${result.factsRight} of ${result.factsChecked}`,
    `  settled              ${result.settledMilliseconds === null ? 'not within two minutes' : formatDuration(result.settledMilliseconds)}`,
    `  time                 ${formatDuration(result.wallMilliseconds)}`,
    ...missedTargets.map((target) => `✗ target missed: ${target}`),
    ...violations.slice(0, LISTED).map(({ name, found }) => `✗ ${name}: ${found}`),
    ...(violations.length > LISTED ? [`  and ${violations.length - LISTED} more`] : []),
    `${result.ok ? '✓' : '✗'} ${plural(violations.length, 'violation')}`,
  ];
}
