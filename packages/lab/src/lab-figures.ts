import type { Budget } from 'holdfast/internal/context/plan/plan.js';
import type { FactFigures, FactPlace } from './facts/fact-survival.ts';
import { largestRequest } from './replay/replay-session.ts';
import type { Replay } from './replay/replay-session.ts';

/** The figures of one preset at one window, over all sessions. */
export interface PresetFigures {
  /** Of the preset. */
  readonly name: string;
  /** Tokens. */
  readonly window: number;
  /** The numbers in force, tokens. */
  readonly numbers: Budget;
  /** Model calls that were made. */
  readonly calls: number;
  readonly passes: number;
  /** Passes by the form that was committed. */
  readonly forms: Readonly<Record<string, number>>;
  /** Largest request, refused ones included, as a fraction of the window. */
  readonly maxFill: number;
  /** Calls with a request over what the model accepts, also when a forced pass then made it fit. */
  readonly overflows: number;
  /** Calls that a turn would not have made, because nothing could make the request fit. */
  readonly exhausted: number;
  /** Tool results in a view without their call; must be 0. */
  readonly orphans: number;
  /** Input of all calls, summaries included. */
  readonly tokensSent: number;
  /** Of them, what the prompt cache had. */
  readonly tokensCached: number;
  readonly summaryCalls: number;
  /** Summary calls whose text did not pass its checks, or that were refused. */
  readonly summaryFailures: number;
  /** Input and output of the summary calls. */
  readonly summaryTokens: number;
  readonly summaryInputTokens: number;
  readonly summaryOutputTokens: number;
  /** Dollars with prompt-cache prices; `null` when a price is unknown. */
  readonly cost: number | null;
  readonly costWithoutCache: number | null;
  /** Facts that were asked for at the end. */
  readonly facts: number;
  readonly factsInView: number;
  readonly factsWhere: Readonly<Record<FactPlace, number>>;
  /** Of those not in the view, what recall finds. */
  readonly factsByRecall: number;
  readonly factsLost: number;
  /** Results that are no longer shown as they were, and how many of them the view names by an id that opens them. */
  readonly leftResults: { readonly all: number; readonly named: number };
  /** Messages of the user, and how many of them the view shows word for word at the end. */
  readonly userMessages: { readonly all: number; readonly whole: number };
  /** The same with every summary emptied. */
  readonly withoutSummaries: { readonly factsInView: number; readonly factsByRecall: number };
  /** The same without recall. */
  readonly withoutRecall: { readonly factsInView: number; readonly factsByRecall: number };
}

/** @param replays of one preset and window, at least one */
export function figuresOf(replays: readonly [Replay, ...Replay[]]): PresetFigures {
  const [{ agent }] = replays;
  const steps = replays.flatMap((replay) => replay.steps);
  const made = steps.filter((step) => !step.exhausted);
  const passes = replays.flatMap((replay) => replay.passes);
  const calls = replays.flatMap((replay) => replay.summaryCalls);
  const ofCalls = (count: 'input' | 'output' | 'cacheRead'): number =>
    sum(calls.map(({ usage }) => usage?.[count] ?? 0));
  const summaryInputTokens = ofCalls('input');
  const summaryOutputTokens = ofCalls('output');
  return {
    name: agent.policy.name,
    window: agent.limits.window,
    numbers: agent.budget,
    calls: made.length,
    passes: passes.length,
    forms: countBy(passes.map((pass) => pass.form)),
    maxFill: largest(steps.map(largestRequest)) / agent.limits.window,
    overflows: steps.filter((step) => step.overflow).length,
    exhausted: steps.length - made.length,
    orphans: sum(replays.map((replay) => replay.orphans)),
    tokensSent: sum(made.map((step) => step.view.total)) + summaryInputTokens,
    tokensCached: sum(made.map((step) => step.cached)) + ofCalls('cacheRead'),
    summaryCalls: calls.length,
    summaryFailures: calls.filter(({ failed }) => failed).length,
    summaryTokens: summaryInputTokens + summaryOutputTokens,
    summaryInputTokens,
    summaryOutputTokens,
    cost: sumOrNull(replays.map((replay) => replay.money.withCache)),
    costWithoutCache: sumOrNull(replays.map((replay) => replay.money.withoutCache)),
    ...survivalOf(replays),
  };
}

function survivalOf(replays: readonly Replay[]) {
  const all = replays.map((replay) => replay.survival);
  const place = (name: FactPlace): number => sum(all.map((figures) => figures.where[name]));
  const brief = (each: readonly FactFigures[]) => ({
    factsInView: sum(each.map((figures) => figures.inView)),
    factsByRecall: sum(each.map((figures) => figures.byRecall)),
  });
  return {
    facts: sum(all.map((figures) => figures.facts)),
    ...brief(all),
    factsWhere: {
      tail: place('tail'),
      userMessages: place('userMessages'),
      summary: place('summary'),
      ledger: place('ledger'),
    },
    factsLost: sum(all.map((figures) => figures.lost)),
    leftResults: {
      all: sum(all.map(({ leftResults }) => leftResults.all)),
      named: sum(all.map(({ leftResults }) => leftResults.named)),
    },
    userMessages: {
      all: sum(all.map(({ userMessages }) => userMessages.all)),
      whole: sum(all.map(({ userMessages }) => userMessages.whole)),
    },
    withoutSummaries: brief(all.map((figures) => figures.withoutSummaries)),
    withoutRecall: brief(all.map((figures) => figures.withoutRecall)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function sumOrNull(values: readonly (number | null)[]): number | null {
  return values.some((value) => value === null) ? null : sum(values.map((value) => value ?? 0));
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
