import type { ModelLimits } from '../context/plan/plan.ts';
import type { CompactionPolicy } from '../context/policy/policy.ts';
import type { AgentView } from '../context/view/view.ts';
import type { ApprovalSettings } from './approval-rules.ts';
import type { LoopLimits } from './progress.ts';
import type { SpendingLimits } from './spending.ts';
import type { TurnOutcome } from './turn-reference.ts';

/** Why a turn ended before its first step. */
export interface TurnRefusal {
  readonly outcome: Extract<TurnOutcome, 'model_failed' | 'interrupted'>;
  /** Code of the configuration error, as `provider_key_missing`. */
  readonly reason: string;
}

export interface AssumedWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Tokens. */
  readonly window: number;
}

/** Prices in dollars per million tokens; `null` when unknown, never 0 for unknown. */
export interface ModelPrices {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** Vendors charge every token of a call more when its input is above this many tokens. */
  readonly longInput?: {
    readonly aboveTokens: number;
    readonly input: number | null;
    readonly output: number | null;
    readonly cacheRead: number | null;
    readonly cacheWrite: number | null;
  };
}

/**
 * Everything of the agent's configuration that a turn depends on, frozen when the turn begins and
 * stored with it, so that a redeploy with other settings never changes a turn under way and any
 * view can be rebuilt.
 */
export interface AgentSnapshot extends AgentView {
  /** Whose conversation it is, and whose memories it is shown. Absent: `default`. */
  readonly tenant?: string;
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly modelLimits: ModelLimits;
  readonly prices: ModelPrices;
  /** What is asked of the vendor with each call. Default: nothing. */
  readonly request?: RequestOptions;
  /** The model that summarizes: the policy's, or the agent's own. */
  readonly summarizer: { readonly model: string; readonly limits: ModelLimits; readonly prices: ModelPrices };
  readonly policy: CompactionPolicy;
  /** Models that take over one after another when the one before failed for good or for long. Absent: none. */
  readonly fallbacks?: readonly FallbackModel[];
  /** Limits of loops that are absent have their defaults (src/turn/progress.ts). */
  readonly limits: { readonly steps: number; readonly spending?: SpendingLimits } & Partial<LoopLimits>;
  /** Absolute path. */
  readonly workspace: string;
  readonly allowCommands: boolean;
  /** Absent when only tools themselves ask for approvals. */
  readonly approvals?: ApprovalSettings;
  /** Memories across conversations: whose, and how many tokens their note may take. Absent: none. */
  readonly memory?: { readonly user: string; readonly tokens: number };
  /** Models that the turn may use and of which nobody knows a window: the safe default is taken. Absent: none. */
  readonly assumedWindows?: readonly AssumedWindow[];
  /** Present when the worker cannot run the agent: the turn takes its messages and ends at once, saying why. */
  readonly refusal?: TurnRefusal;
}

/** What another model changes of a turn: everything that depends on the model, frozen when the turn begins. */
export type FallbackModel = Pick<
  AgentSnapshot,
  'model' | 'modelLimits' | 'prices' | 'request' | 'summarizer' | 'policy'
>;

/** A model that a turn gave up. */
export interface GivenUpModel {
  /** `provider/model`. */
  readonly model: string;
  /** The call that it could not answer. */
  readonly callNumber: number;
  /** Code of the last failure's evidence, `rate_limit` when the wait was too long, `window_too_small` when the view cannot be made to fit. */
  readonly reason: string;
}

/** With another model at hand nobody waits longer than this for a rate limit: a quota of a day is an outage. */
export const LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS = 300_000;

/** The snapshot as it is in force after so many models were given up. */
export function withModelInForce(snapshot: AgentSnapshot, givenUp: number): AgentSnapshot {
  const fallback = snapshot.fallbacks?.[givenUp - 1];
  if (fallback === undefined) return snapshot;
  const { request: _ofTheFirst, ...rest } = snapshot;
  return { ...rest, ...fallback };
}

/** The model to ask when the one in force is given up too; `null`: there is none. */
export function nextFallback({ fallbacks = [] }: AgentSnapshot, givenUp: number): FallbackModel | null {
  return fallbacks[givenUp] ?? null;
}

/** How hard a model thinks before it answers; which of them a model knows is the vendor's choice. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Anthropic knows the first two, OpenAI all but the second. */
export const SERVICE_TIERS = ['auto', 'standard_only', 'default', 'flex', 'scale', 'priority'] as const;
type ServiceTier = (typeof SERVICE_TIERS)[number];

/**
 * What an agent asks of the vendor with each of its model calls, besides the view. What is absent is
 * not sent: the vendor's default holds. The same for all calls of a turn, so that prompt caches stay warm.
 */
export interface RequestOptions {
  readonly reasoningEffort?: ReasoningEffort;
  /** Tokens of thinking at most; only Anthropic's protocol has it. */
  readonly thinkingBudget?: number;
  readonly temperature?: number;
  /** The answer ends before one of these; OpenAI Responses has none. */
  readonly stopSequences?: readonly string[];
  readonly serviceTier?: ServiceTier;
  /** Whether Anthropic names pages and words of PDFs that an answer rests on. Default: false. */
  readonly citations?: boolean;
  /** JSON Schema of an object: the form of the final answer. Absent: free text. */
  readonly output?: Readonly<Record<string, unknown>>;
  /** How long Anthropic keeps what it cached. Default: `5m`. */
  readonly cacheLifetime?: '5m' | '1h';
}

/**
 * What a summary behind the last request asks for: the same, since other thinking is another prefix to a vendor, but no
 * stop sequences and no form, which were chosen for the agent's own answers. Thinking counts as output: it gets room of its own.
 */
export function sharedRequestOptions(
  { stopSequences: _ofAnswers, output: _formOfAnswers, ...options }: RequestOptions = {},
  maximumOutput: number,
): { readonly options: RequestOptions; readonly thinkingRoom: number } {
  const { thinkingBudget, reasoningEffort } = options;
  const thinks = reasoningEffort !== undefined && reasoningEffort !== 'none';
  return { options, thinkingRoom: thinkingBudget ?? (thinks ? maximumOutput : 0) };
}

/**
 * What a summary asks for: how it is served and cached, but no thinking, temperature or stop
 * sequences, which were chosen for the agent's own answers.
 */
export function summaryRequestOptions({ serviceTier, cacheLifetime }: RequestOptions = {}): RequestOptions {
  return {
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(cacheLifetime === undefined ? {} : { cacheLifetime }),
  };
}
