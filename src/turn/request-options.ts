/** How hard a model thinks before it answers; which of them a model knows is the vendor's choice. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Anthropic knows the first two, OpenAI all but the second. */
export const SERVICE_TIERS = ['auto', 'standard_only', 'default', 'flex', 'scale', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

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
