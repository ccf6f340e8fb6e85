import type { FidelityFigures, PlantFigures } from '../fidelity/measure-fidelity.ts';
import type { Target } from '../figures.ts';
import { pageTable } from '../presets-page.ts';

/** A share of what was asked for. */
export interface FidelityShare {
  readonly name: string;
  readonly of: (figures: FidelityFigures) => readonly [part: number, whole: number];
  /** Holds for `default`: the agent's rules and user messages verbatim, every original one call away, no old values. */
  readonly target?: Target;
}

const ALL: Target = { atLeast: 100 };

function planted(name: string, count: (figures: FidelityFigures) => number, target?: Target): FidelityShare {
  return { name, of: (figures) => [count(figures), figures.asked], ...(target !== undefined && { target }) };
}

/** Of what was changed: nothing else has an old value. */
function old(name: string, of: (figures: FidelityFigures) => PlantFigures, target?: Target): FidelityShare {
  return {
    name,
    of: (figures) => [of(figures).stale, of(figures).changed],
    ...(target !== undefined && { target }),
  };
}

export const FIDELITY_SHARES: readonly FidelityShare[] = [
  { name: 'rules', of: ({ rules }) => [rules.inView, rules.asked], target: ALL },
  { name: 'said rules in view', of: ({ byKind }) => [byKind.rule.inView, byKind.rule.asked] },
  { name: 'user messages', of: ({ userMessages }) => [userMessages.inView, userMessages.asked], target: ALL },
  planted('in view', ({ inView }) => inView),
  planted('by recall', ({ reachable }) => reachable, ALL),
  { name: 'originals by recall', of: ({ originals }) => [originals.reachable, originals.asked], target: ALL },
  planted('either', ({ inViewOrReachable }) => inViewOrReachable),
  old('old value', (figures) => figures, { atMost: 2 }),
  planted('emptied: in view', ({ withoutSummaries }) => withoutSummaries.inView),
  planted('emptied: either', ({ withoutSummaries }) => withoutSummaries.inViewOrReachable),
  old('emptied: old value', ({ withoutSummaries }) => withoutSummaries),
  planted('recall off: in view', ({ withoutRecall }) => withoutRecall.inView),
  old('recall off: old value', ({ withoutRecall }) => withoutRecall),
];

/** One row for each preset and number of compactions. */
export function fidelityTable(figures: readonly FidelityFigures[]): string {
  const head = ['preset', 'compactions', 'planted', 'changed', ...FIDELITY_SHARES.map(({ name }) => name)];
  return pageTable(
    head,
    figures.map((each) => [
      `\`${each.preset}\``,
      ...[each.passes, each.asked, each.changed].map(String),
      ...FIDELITY_SHARES.map(({ of }) => percent(...of(each))),
    ]),
  );
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`;
}
