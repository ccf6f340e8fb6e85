import type { ModelLimits } from '../context/plan/plan.ts';
import type { CompactionPolicy } from '../context/policy/policy.ts';
import type { AgentView, ToolTraits } from '../context/view/view.ts';
import type { ApprovalSettings } from './approval-rules.ts';
import type { LoopLimits } from './progress.ts';
import type { SpendingLimits } from './spending.ts';
import type { TurnOutcome } from './turn-reference.ts';

/** Why a turn ended before its first step. */
export interface TurnRefusal {
  readonly outcome: Extract<TurnOutcome, 'model_failed' | 'interrupted'>;
  /** Code of the configuration error, such as `provider_key_missing`. */
  readonly reason: string;
}

export interface AssumedWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Tokens. */
  readonly window: number;
}

/** Dollars per million tokens; `null` if unknown, never 0. */
export interface ModelPrices {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** Above this many input tokens, vendors charge more for every token of the call. */
  readonly longInput?: {
    readonly aboveTokens: number;
    readonly input: number | null;
    readonly output: number | null;
    readonly cacheRead: number | null;
    readonly cacheWrite: number | null;
  };
}

/**
 * The agent's configuration as it was when the turn began, stored with the turn. A redeploy never changes an open turn, and any view can
 * be rebuilt.
 */
export interface AgentSnapshot extends AgentView {
  /** Tenant of the conversation and its memories. Absent: `default`. */
  readonly tenant?: string;
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly modelLimits: ModelLimits;
  readonly prices: ModelPrices;
  /** What each call asks of the vendor. Default: nothing. */
  readonly request?: RequestOptions;
  /** The model that summarizes: the policy's, or the agent's own. */
  readonly summarizer: { readonly model: string; readonly limits: ModelLimits; readonly prices: ModelPrices };
  readonly policy: CompactionPolicy;
  /** Models that take over in this order when one fails for good or for long. Absent: none. */
  readonly fallbacks?: readonly FallbackModel[];
  /** Missing limits of loops have their defaults (src/turn/progress.ts). */
  readonly limits: { readonly steps: number; readonly spending?: SpendingLimits } & Partial<LoopLimits>;
  /** Absolute path. */
  readonly workspace: string;
  readonly allowCommands: boolean;
  /** By name. Absent: the defaults. */
  readonly toolTraits?: Readonly<Record<string, ToolTraits>>;
  /** Absent if only tools ask for approvals. */
  readonly approvals?: ApprovalSettings;
  /** Memories across conversations: the user, and the tokens that their note may take. Absent: none. */
  readonly memory?: { readonly user: string; readonly tokens: number };
  /** Models of the turn with an unknown window; the safe default is used. Absent: none. */
  readonly assumedWindows?: readonly AssumedWindow[];
  /** Present if the worker cannot run the agent. The turn takes its messages and ends at once with the reason. */
  readonly refusal?: TurnRefusal;
}

/** Everything of a turn that depends on the model, frozen when the turn begins. */
export type FallbackModel = Pick<
  AgentSnapshot,
  'model' | 'modelLimits' | 'prices' | 'request' | 'summarizer' | 'policy'
>;

/** A model that a turn gave up. */
export interface GivenUpModel {
  /** `provider/model`. */
  readonly model: string;
  /** The call that this model could not answer. */
  readonly callNumber: number;
  /** Code of the last failure; `rate_limit` if the wait was too long, `window_too_small` if the view cannot fit. */
  readonly reason: string;
}

/** With a fallback at hand, no turn waits longer for a rate limit, because a daily quota is an outage. */
export const LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS = 300_000;

/** The snapshot of the model in force after so many models were given up. */
export function withModelInForce(snapshot: AgentSnapshot, givenUp: number): AgentSnapshot {
  const fallback = snapshot.fallbacks?.[givenUp - 1];
  if (fallback === undefined) return snapshot;
  const { request: _ofTheFirst, ...rest } = snapshot;
  return { ...rest, ...fallback };
}

/** The snapshot of a turn whose task asks for an answer of its own form. @param output `null`: the agent's own */
export function withAnswerForm(snapshot: AgentSnapshot, output: AnswerForm | null): AgentSnapshot {
  if (output === null) return snapshot;
  const asked = <Of extends FallbackModel>(one: Of): Of => ({ ...one, request: { ...one.request, output } });
  return { ...asked(snapshot), ...(snapshot.fallbacks && { fallbacks: snapshot.fallbacks.map(asked) }) };
}

/** The next model if the one in force is given up too; `null` if there is none. */
export function nextFallback({ fallbacks = [] }: AgentSnapshot, givenUp: number): FallbackModel | null {
  return fallbacks[givenUp] ?? null;
}

/** How hard a model thinks before it answers. The vendor chooses which efforts a model knows. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Anthropic knows the first two, OpenAI all except the second. */
export const SERVICE_TIERS = ['auto', 'standard_only', 'default', 'flex', 'scale', 'priority'] as const;
type ServiceTier = (typeof SERVICE_TIERS)[number];

/** JSON Schema of an object. */
export type AnswerForm = Readonly<Record<string, unknown>>;

/**
 * Options of an agent's model calls, beside the view. An absent option is not sent. They are the same for all calls of a turn, so that
 * prompt caches stay warm.
 */
export interface RequestOptions {
  readonly reasoningEffort?: ReasoningEffort;
  /** Most tokens of thinking; only in Anthropic's protocol. */
  readonly thinkingBudget?: number;
  readonly temperature?: number;
  /** The answer ends before one of these; OpenAI Responses has none. */
  readonly stopSequences?: readonly string[];
  readonly serviceTier?: ServiceTier;
  /** Whether Anthropic names pages and words of PDFs behind an answer. Default: false. */
  readonly citations?: boolean;
  /** Form of the final answer. Absent: free text. */
  readonly output?: AnswerForm;
  /** How long Anthropic caches the prompt. Default: `5m`. */
  readonly cacheLifetime?: '5m' | '1h';
}

/**
 * Options of a summary behind the last request. They are the same, because other thinking is another prefix to a vendor. Stop sequences
 * and form are left out, because they are for the agent's answers. Thinking counts as output, so it gets extra room.
 */
export function sharedRequestOptions(
  { stopSequences: _ofAnswers, output: _formOfAnswers, ...options }: RequestOptions = {},
  maximumOutput: number,
): { readonly options: RequestOptions; readonly thinkingRoom: number } {
  const { thinkingBudget, reasoningEffort } = options;
  const thinks = reasoningEffort !== undefined && reasoningEffort !== 'none';
  return { options, thinkingRoom: thinkingBudget ?? (thinks ? maximumOutput : 0) };
}

/** Options of a summary: service tier and cache, but no thinking, temperature or stop sequences, which are for the agent's answers. */
export function summaryRequestOptions({ serviceTier, cacheLifetime }: RequestOptions = {}): RequestOptions {
  return {
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(cacheLifetime === undefined ? {} : { cacheLifetime }),
  };
}
