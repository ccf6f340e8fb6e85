import { PRESETS } from '../../../src/config/presets.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { FidelityFigures } from '../fidelity/measure-fidelity.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { measureFidelityOfPresets } from '../memory/fidelity-of-presets.ts';
import { writeFidelityTable } from '../memory/fidelity-table.ts';
import { sumFidelity } from '../memory/sum-fidelity.ts';
import { exactly } from '../statistics.ts';

/** Answers of the agent: enough for ten compactions under every preset. */
const STEPS = 420;
const PASSES = [1, 5, 10];
/** Sessions, each planted by a seed of its own: of one, too few facts change for a share of 2 % to mean anything. */
const SESSIONS = 3;

/** What an agent still knows after 1, 5 and 10 compactions under each preset. */
export async function measureMemory({ database, connections }: BenchStack, options: BenchOptions): Promise<Figure[]> {
  const simulatorUrl = connections.simulatorUrl ?? '';
  const policies = Object.values(PRESETS);
  const sessions: FidelityFigures[][] = [];
  for (let session = 0; session < SESSIONS; session += 1) {
    const seed = options.seed + session;
    sessions.push(
      await measureFidelityOfPresets(database, { simulatorUrl, seed, policies, steps: STEPS, passes: PASSES }),
    );
  }
  const figures = sumFidelity(sessions);
  if (options.writePage) await writeFidelityTable(figures);
  return [
    ...figures.flatMap(fidelityLines),
    ...unreachedLines(sessions, { presets: policies.map(({ name }) => name), passes: PASSES }),
  ];
}

/** What was to be asked and in one of the sessions never was, because it was too short or the preset gave up, meets no target, of whatever preset. */
export function unreachedLines(
  sessions: readonly (readonly Pick<FidelityFigures, 'preset' | 'passes'>[])[],
  wanted: { readonly presets: readonly string[]; readonly passes: readonly number[] },
): Figure[] {
  const lineOf = (preset: string, passes: number): Figure => ({
    benchmark: 'memory',
    name: `${headOf({ preset, passes })}: never reached`,
    unit: '%',
    target: { atLeast: 100 },
    ...exactly(Number.NaN),
  });
  return wanted.presets.flatMap((preset) =>
    wanted.passes
      .filter((passes) =>
        sessions.some((figures) => !figures.some((each) => each.preset === preset && each.passes === passes)),
      )
      .map((passes) => lineOf(preset, passes)),
  );
}

function headOf({ preset, passes }: Pick<FidelityFigures, 'preset' | 'passes'>): string {
  return `${preset}, ${passes} ${passes === 1 ? 'pass' : 'passes'}`;
}

/**
 * Targets hold for `default`: the agent's rules and user messages verbatim, every original one call away, no old values. What was asked for
 * nothing is no number, and meets no target.
 */
export function fidelityLines(figures: FidelityFigures): Figure[] {
  const { preset, rules, userMessages } = figures;
  const isDefault = preset === 'default';
  const line = (name: string, part: number, whole: number, target?: Figure['target']): Figure => ({
    benchmark: 'memory',
    name: `${headOf(figures)}: ${name}`,
    unit: '%',
    ...(isDefault && target !== undefined && { target }),
    ...exactly(whole === 0 ? Number.NaN : (part / whole) * 100),
  });
  const { asked, byKind, changed, originals, withoutSummaries, withoutRecall } = figures;
  return [
    line('rules verbatim', rules.inView, rules.asked, { atLeast: 100 }),
    line('rules that the user said, in the view', byKind.rule.inView, byKind.rule.asked),
    line('user messages verbatim, within their budget', userMessages.inView, userMessages.asked, { atLeast: 100 }),
    line('planted, in the view', figures.inView, asked),
    line('planted, in the view with summaries emptied', withoutSummaries.inView, asked),
    line('planted, found by one recall call', figures.reachable, asked, { atLeast: 100 }),
    line('planted, in the view or found by recall', figures.inViewOrReachable, asked),
    line('originals, found by one recall call', originals.reachable, originals.asked, { atLeast: 100 }),
    line('planted, in the view or found by recall, summaries emptied', withoutSummaries.inViewOrReachable, asked),
    line('planted, in the view or found by recall, recall off', withoutRecall.inViewOrReachable, asked),
    line('changed, answered with an old value, summaries emptied', withoutSummaries.stale, changed),
    line(`changed (${changed} of them), answered with an old value`, figures.stale, changed, { atMost: 2 }),
    line('changed, answered with an old value, recall off', withoutRecall.stale, changed),
  ];
}
