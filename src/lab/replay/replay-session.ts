import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import { breakdownWindow } from '../../context/measure-view.ts';
import type { WindowBreakdown } from '../../context/plan.ts';
import { costOf } from '../../models/cost.ts';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { ModelPrices } from '../../turn/agent-snapshot.ts';
import type { LabSession } from '../session/lab-session.ts';
import type { LabAgent } from './lab-agent.ts';
import { LabConversation } from './lab-conversation.ts';
import { countOrphans, shareInView, survivalNow } from './replay-facts.ts';
import type { SessionFacts, SurvivalFigures } from './replay-facts.ts';
import { RequestCache } from './request-cache.ts';
import { fitContext } from './run-pass.ts';
import type { LabPass } from './run-pass.ts';
import type { SummaryCall } from './summarize-part.ts';

/** One model call of the replay. */
export interface ReplayedStep {
  /** Tokens of the request by kind, by the estimate. */
  readonly view: WindowBreakdown;
  /** Of them, what a prompt cache has from the request before. */
  readonly cached: number;
  /** Of the recorded answer. */
  readonly output: number;
  /** The request is over what the model accepts. */
  readonly overflow: boolean;
  /** No form made it fit: in a turn the call would not be made, and the turn would end as `context_exhausted`. */
  readonly exhausted: boolean;
}

export interface ReplayedPass extends LabPass {
  /** The step before whose call it ran, from 0. */
  readonly step: number;
  /** Facts of what had been dropped by then, and how many the view said right after the pass. */
  readonly facts: number;
  readonly factsInView: number;
}

export interface Replay {
  readonly session: LabSession;
  readonly agent: LabAgent;
  readonly steps: readonly ReplayedStep[];
  readonly passes: readonly ReplayedPass[];
  readonly summaryCalls: readonly SummaryCall[];
  /** Results in any view without their call; must be 0. */
  readonly orphans: number;
  readonly survival: SurvivalFigures;
  readonly money: ReplayMoney;
}

/** Dollars; `null` when a price is not known. */
interface ReplayMoney {
  readonly withCache: number | null;
  readonly withoutCache: number | null;
}

/**
 * Replays a session under one policy and window: before every recorded answer, what a turn does
 * before a model call; then the answer as it was. Nothing is asked of the agent's model.
 */
export async function replaySession(session: LabSession, agent: LabAgent, facts: SessionFacts): Promise<Replay> {
  const conversation = new LabConversation(session, session.label);
  const cache = new RequestCache();
  const steps: ReplayedStep[] = [];
  const passes: ReplayedPass[] = [];
  const summaryCalls: SummaryCall[] = [];
  let orphans = 0;
  for (const [position, entry] of session.entries.entries()) {
    if (entry.kind === 'assistant') {
      const turnId = conversation.turnId(entry.turn);
      const before = countIfOver(agent, conversation);
      const fitted = await fitForCall(agent, conversation, turnId);
      summaryCalls.push(...fitted.calls);
      orphans += before + (fitted.passes.length > 0 ? countOrphans(agent, conversation) : 0);
      for (const pass of fitted.passes) {
        const share = shareInView(agent, conversation, facts);
        passes.push({ ...pass, step: steps.length, facts: share.facts, factsInView: share.inView });
      }
      const view = breakdownWindow({
        ...conversation.measuredView(agent.fixed),
        calibration: NO_CALIBRATION,
        budget: agent.budget,
      });
      steps.push({
        view,
        cached: cache.read(agent, conversation),
        output: estimateTokens(entry.measurements, NO_CALIBRATION),
        overflow: view.total > largestInput(agent),
        exhausted: fitted.exhausted,
      });
    }
    conversation.append(position);
  }
  orphans += countOrphans(agent, conversation);
  const survival = survivalNow(agent, conversation, facts);
  return { session, agent, steps, passes, summaryCalls, orphans, survival, money: moneyOf(agent, steps, summaryCalls) };
}

/** Views between two passes only grow, so the last one before a pass holds every orphan of those before it. */
function countIfOver(agent: LabAgent, conversation: LabConversation): number {
  const { total } = breakdownWindow({
    ...conversation.measuredView(agent.fixed),
    calibration: NO_CALIBRATION,
    budget: agent.budget,
  });
  return total > agent.budget.trigger ? countOrphans(agent, conversation) : 0;
}

interface FittedCall {
  readonly passes: readonly LabPass[];
  readonly calls: readonly SummaryCall[];
  readonly exhausted: boolean;
}

/** The check before the call and, when the request is still over what the model accepts, the forced pass that follows the provider's refusal. */
async function fitForCall(agent: LabAgent, conversation: LabConversation, turnId: string): Promise<FittedCall> {
  const checked = await fitContext(agent, conversation, { turnId, forced: null });
  const passes = checked.kind === 'fits' && checked.pass !== null ? [checked.pass] : [];
  if (checked.kind === 'exhausted') return { passes, calls: checked.calls, exhausted: true };
  if (checked.tokens <= largestInput(agent)) return { passes, calls: checked.calls, exhausted: false };
  const forced = await fitContext(agent, conversation, { turnId, forced: 'overflow' });
  const calls = [...checked.calls, ...forced.calls];
  if (forced.kind === 'exhausted') return { passes, calls, exhausted: true };
  return { passes: forced.pass === null ? passes : [...passes, forced.pass], calls, exhausted: false };
}

function largestInput({ limits }: LabAgent): number {
  return Math.min(limits.window, limits.maximumInput ?? Infinity);
}

function moneyOf(agent: LabAgent, steps: readonly ReplayedStep[], calls: readonly SummaryCall[]): ReplayMoney {
  const made = steps.filter((step) => !step.exhausted);
  const ofSteps = (isCached: boolean): (number | null)[] =>
    made.map(({ view, cached, output }) => {
      const read = isCached ? cached : 0;
      return costOf(usageOf({ input: view.total, read, output }, isCached ? agent.prices : null), agent.prices);
    });
  const ofSummaries = (isCached: boolean): (number | null)[] =>
    calls.map(({ usage }) => {
      if (usage === null) return 0;
      const { prices } = agent.summarizer;
      return costOf(isCached ? priceable(usage, prices) : { ...usage, cacheRead: 0, cacheWrite: 0 }, prices);
    });
  return {
    withCache: sumOrNull([...ofSteps(true), ...ofSummaries(true)]),
    withoutCache: sumOrNull([...ofSteps(false), ...ofSummaries(false)]),
  };
}

/** A vendor that writes its cache free of charge charges the tokens as input (OpenAI before GPT-5.6). */
function usageOf(
  { input, read, output }: { readonly input: number; readonly read: number; readonly output: number },
  cachePrices: ModelPrices | null,
): ReportedUsage {
  const cacheRead = cachePrices === null || cachePrices.cacheRead === null ? 0 : read;
  const usage: ReportedUsage = { input, cacheRead, cacheWrite: input - cacheRead, output };
  return cachePrices === null ? { ...usage, cacheWrite: 0 } : priceable(usage, cachePrices);
}

function priceable(usage: ReportedUsage, { cacheWrite }: ModelPrices): ReportedUsage {
  return cacheWrite === null || cacheWrite === 0 ? { ...usage, cacheWrite: 0 } : usage;
}

function sumOrNull(amounts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === null) return null;
    sum += amount;
  }
  return sum;
}
