import { estimateTokens, NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import type { WindowBreakdown } from 'holdfast/internal/context/plan/plan.js';
import { costOf } from 'holdfast/internal/models/catalogue/cost.js';
import type { ReportedUsage } from 'holdfast/internal/models/model-client.js';
import type { Database } from 'holdfast/internal/store/database/database.js';
import type { ModelPrices } from 'holdfast/internal/turn/agent-snapshot.js';
import type { LabEntry, LabSession } from '../session/lab-session.ts';
import { fitContext } from './fit-context.ts';
import type { FitResult, Fitting, LabPass, SummaryCall } from './fit-context.ts';
import { createLabAgent } from './lab-agent.ts';
import type { LabAgent } from './lab-agent.ts';
import { hasPass, ReplayedConversation } from './replayed-conversation.ts';
import { countOrphans, shareInView, survivalNow } from './replay-facts.ts';
import type { SessionFacts, SurvivalFigures } from './replay-facts.ts';
import { breakdownRequest, RequestCache, requestPieces, stubsNow } from './request-cache.ts';
import type { RequestPiece } from './request-cache.ts';

/** One model call of the replay. */
export interface ReplayedStep {
  /** Tokens of the request by kind, by the estimate. */
  readonly view: WindowBreakdown;
  /** Of them, what a prompt cache has from the request before. */
  readonly cached: number;
  /** Of the recorded answer. */
  readonly output: number;
  /** Tokens of the first request, which the provider refuses, so that a forced pass follows; `null`: it refuses none. */
  readonly refused: number | null;
  /** A request of the step is over what the model accepts, also when a forced pass then makes it fit. */
  readonly overflow: boolean;
  /** No form made it fit: in a turn the call would not be made, and the turn would end as `context_exhausted`. */
  readonly exhausted: boolean;
}

export interface ReplayedPass extends LabPass {
  /** The step before whose call it ran, from 0. */
  readonly step: number;
  /** Facts that were asked for right after the pass, and how many the view said. */
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

/** Looks at the conversation right after a pass; numbers from 1. */
export type AfterPass = (number: number, conversation: ReplayedConversation) => Promise<void>;

/**
 * Replays a session under one policy and window: before every recorded answer, what a turn does
 * before a model call; then the answer as it was. Nothing is asked of the agent's model.
 */
export async function replaySession(
  database: Database,
  session: LabSession,
  agent: LabAgent,
  facts: SessionFacts,
  afterPass: AfterPass = async () => undefined,
): Promise<Replay> {
  const replayer = new Replayer(database, session, agent, facts, afterPass);
  let turn = session.entries[0]?.turn;
  for (const [position, entry] of session.entries.entries()) {
    if (entry.kind === 'user' && entry.turn !== turn) await replayer.endTurn();
    ({ turn } = entry);
    if (entry.kind === 'user') await replayer.conversation.say(position);
    else if (entry.kind === 'assistant') await replayer.call(position, entry);
    else await replayer.conversation.result(position);
  }
  return replayer.finish();
}

class Replayer {
  readonly conversation: ReplayedConversation;
  private readonly cache = new RequestCache();
  private readonly steps: ReplayedStep[] = [];
  private readonly passes: ReplayedPass[] = [];
  private readonly summaryCalls: SummaryCall[] = [];
  private orphans = 0;
  /** At the end of the newest turn whose passes count no more. */
  private survival: SurvivalFigures | null = null;
  private readonly session: LabSession;
  private agent: LabAgent;
  private readonly facts: SessionFacts;
  private readonly afterPass: AfterPass;

  constructor(database: Database, session: LabSession, agent: LabAgent, facts: SessionFacts, afterPass: AfterPass) {
    this.session = session;
    this.agent = agent;
    this.facts = facts;
    this.afterPass = afterPass;
    this.conversation = new ReplayedConversation(database, session, agent);
  }

  /** A pass that lasts for a turn counts no more in the next one. */
  async endTurn(): Promise<void> {
    const { agent, conversation, facts } = this;
    if (agent.policy.lasts === 'turn') {
      const view = await conversation.view();
      if (hasPass(view)) this.survival = await survivalNow(agent, conversation, facts);
    }
    await conversation.end();
  }

  /** A model call: what a turn does before it, the answer as it was recorded, and what some presets do after a turn's last one. */
  async call(position: number, entry: LabEntry): Promise<void> {
    const { conversation } = this;
    if (!conversation.isOpen) {
      this.instruct(this.session.instructionsAt(position));
      await conversation.begin(this.agent);
    }
    const { agent } = this;
    const { refused, exhausted } = await this.fitForCall();
    const { view, pieces } = await this.request();
    const output = estimateTokens(entry.measurements, NO_CALIBRATION);
    const cached = this.cache.read(pieces);
    const overflow = refused !== null || view.total > largestInput(agent);
    this.steps.push({ view, cached, output, refused, overflow, exhausted });
    // The recorded usage belongs to another agent's requests; what a provider reports of ours is taken to be the estimate.
    await conversation.answer(position, { input: view.total, cacheRead: 0, cacheWrite: 0, output });
    const isLast = entry.toolCallCount === 0;
    if (isLast && agent.policy.checkAfterLastStep) await this.fit({ forced: null, turnIsOver: true });
  }

  /** A recorded prompt may change between two turns. */
  private instruct(instructions: string | null): void {
    const { view } = this.agent;
    if (instructions === null || instructions === view.instructions) return;
    this.agent = createLabAgent({ ...this.agent, view: { ...view, instructions } });
  }

  private async request(): Promise<{
    readonly view: WindowBreakdown;
    readonly pieces: readonly RequestPiece[];
  }> {
    const { agent, conversation } = this;
    const now = await conversation.view();
    const stubs = await stubsNow(agent, conversation);
    return { view: breakdownRequest(agent, now, stubs), pieces: requestPieces(agent, conversation, now, stubs) };
  }

  /** The check before the call and, when the request is still over what the model accepts, the forced pass that follows the provider's refusal. */
  private async fitForCall(): Promise<Pick<ReplayedStep, 'refused' | 'exhausted'>> {
    const checked = await this.fit({ forced: null, turnIsOver: false });
    if (checked.kind === 'exhausted') return { refused: null, exhausted: true };
    if (checked.tokens <= largestInput(this.agent)) return { refused: null, exhausted: false };
    // The provider counts what it is sent, and that may be smaller by its stubs.
    const refused = (await this.request()).view.total;
    if (refused <= largestInput(this.agent)) return { refused: null, exhausted: false };
    const forced = await this.fit({ forced: 'overflow', turnIsOver: false });
    return { refused, exhausted: forced.kind === 'exhausted' };
  }

  private async fit(wish: Pick<Fitting, 'forced' | 'turnIsOver'>): Promise<FitResult> {
    const { agent, conversation, facts } = this;
    conversation.callNumber += 1;
    const fitted = await fitContext(agent, conversation, {
      ...wish,
      planned: async () => {
        // Views between two passes only grow, so the last one before a pass holds every orphan of those before it.
        this.orphans += await countOrphans(conversation);
        return this.cache.peek((await this.request()).pieces);
      },
      called: (call) => this.summaryCalls.push(call),
    });
    if (fitted.kind === 'exhausted' || fitted.pass === null) return fitted;
    this.orphans += await countOrphans(conversation);
    const share = await shareInView(agent, conversation, facts);
    this.passes.push({ ...fitted.pass, step: this.steps.length, facts: share.facts, factsInView: share.inView });
    await this.afterPass(this.passes.length, conversation);
    return fitted;
  }

  async finish(): Promise<Replay> {
    const { session, conversation, steps, passes, summaryCalls } = this;
    await conversation.begin(this.agent);
    await conversation.takeWaiting();
    const { agent } = this;
    const orphans = this.orphans + (await countOrphans(conversation));
    // With no pass in force nothing is dropped: then the newest turn that had one tells what it left.
    const earlier = hasPass(await conversation.view()) ? null : this.survival;
    const survival = earlier ?? (await survivalNow(agent, conversation, this.facts));
    const money = moneyOf(agent, steps, summaryCalls);
    await conversation.end();
    return { session, agent, steps, passes, summaryCalls, orphans, survival, money };
  }
}

/** Tokens of the step's largest request, refused ones included. */
export function largestRequest({ view, refused }: ReplayedStep): number {
  return Math.max(view.total, refused ?? 0);
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
