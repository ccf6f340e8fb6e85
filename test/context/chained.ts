import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { measureView } from '../../src/context/view/view-arrangement.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import type { CompactionPlan, ModelLimits } from '../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { Conversation, prose } from './builders.ts';
import { happen, happenings, limits } from './random-conversations.ts';
import type { Happening } from './random-conversations.ts';

/** What a summarizer may answer for a plan: as long as it was allowed to. */
export function writtenSummary(plan: CompactionPlan, pass: number): string {
  return plan.summaryLimit === 0 ? '' : `Summary ${pass}. ${prose(Math.floor(plan.summaryLimit * 3), pass)}`;
}

export function tokensOf(conversation: Conversation): number {
  const input = conversation.planInput();
  return estimateTokens(measureView(input), NO_CALIBRATION);
}

interface Pass {
  readonly plan: CompactionPlan;
  readonly before: Conversation['summary'];
  /** It was asked for by an overflow, or an earlier one was: such a pass may clip for good what another keeps. */
  readonly isForced: boolean;
}

/** Lets everything happen, compacting whenever the plan says so; `check` sees the conversation after each pass. */
export function play(
  events: readonly Happening[],
  conversation: Conversation,
  check: Check,
): { readonly passes: number; readonly exhausted: boolean } {
  let isForced = false;
  for (const [seed, event] of events.entries()) {
    const reason = happen(conversation, event, seed + 1);
    isForced ||= reason === 'overflow';
    const result = planCompaction(conversation.planInput(reason));
    if (result.kind === 'exhausted') {
      // Nothing to shrink but a few short messages: an overflow reported then is beyond repair.
      const { breakdown } = result;
      return { passes: conversation.passes, exhausted: breakdown.total - breakdown.fixed - breakdown.summary > 1_500 };
    }
    if (result.kind === 'fits') {
      expect(tokensOf(conversation)).toBeLessThanOrEqual(conversation.budget.inputBudget);
      continue;
    }
    const before = conversation.summary;
    conversation.commit(result.plan, writtenSummary(result.plan, conversation.passes + 1));
    check(conversation, { plan: result.plan, before, isForced });
  }
  return { passes: conversation.passes, exhausted: false };
}

type Check = (conversation: Conversation, pass: Pass) => void;

interface Played {
  /** Names of the checks that failed somewhere. */
  readonly failed: ReadonlySet<string>;
  /** Passes of each conversation. */
  readonly passes: readonly number[];
  readonly exhausted: number;
}

const RUNS = 8;

/** For the smallest conversation that fails. Milliseconds. */
const SEARCH_LIMIT = 10_000;

/**
 * A test for each check, on each pass over the same random conversations, which are played once for all of them. The
 * check that failed is run again by itself, so that fast-check names the smallest conversation that breaks it.
 */
export function testEachPass(
  checks: Readonly<Record<string, Check>>,
  options: { readonly policy?: CompactionPolicy; readonly runs?: number } = {},
): () => Played {
  const { policy, runs = RUNS } = options;
  const conversationOf = (modelLimits: ModelLimits): Conversation =>
    new Conversation({ limits: modelLimits, ...(policy !== undefined && { policy }) });
  const playAll = once((): Played => {
    const failed = new Set<string>();
    const passes: number[] = [];
    let exhausted = 0;
    const property = fc.property(happenings, limits, (events, modelLimits) => {
      const played = play(events, conversationOf(modelLimits), (conversation, pass) => {
        for (const [name, check] of Object.entries(checks)) if (!holds(check, conversation, pass)) failed.add(name);
      });
      passes.push(played.passes);
      if (played.exhausted) exhausted += 1;
    });
    fc.assert(property, { numRuns: runs });
    return { failed, passes, exhausted };
  });
  test.each(Object.entries(checks))('%s', (name, check) => {
    const { failed } = playAll();
    if (!failed.has(name)) return;
    const property = fc.property(happenings, limits, (events, modelLimits) => {
      play(events, conversationOf(modelLimits), check);
    });
    // Each step of the search plays a conversation: what it found until then is told.
    fc.assert(property, {
      numRuns: runs,
      interruptAfterTimeLimit: SEARCH_LIMIT,
      markInterruptAsFailure: true,
    });
  });
  return playAll;
}

function holds(check: Check, conversation: Conversation, pass: Pass): boolean {
  try {
    check(conversation, pass);
    return true;
  } catch {
    return false;
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
