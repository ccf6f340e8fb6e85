import type { ContentPart } from '../context/log/content.ts';
import type { MediaLimits } from '../context/plan/plan.ts';
import type { View } from '../context/view/view.ts';
import type { RequestOptions } from '../turn/agent-snapshot.ts';

/** One call of a model, the same for every protocol. */
export interface ModelRequest {
  /** The vendor's own name of the model, without the provider. */
  readonly model: string;
  readonly view: View;
  /** Tokens; never more than the window less the view. */
  readonly maximumOutput: number;
  /** Steers prompt caching where the vendor has such a key; the same for all calls of a conversation. */
  readonly cacheKey: string;
  /** What the agent asks of the vendor besides. Default: nothing. */
  readonly options?: RequestOptions;
  /** What the server is known to take of images and files; beyond it the oldest are left out. Default: as much as its vendor says. */
  readonly media?: MediaLimits;
  /** Decides about a refusal that nobody understands. Default: not known, and such a refusal is no overflow. */
  readonly size?: RequestSize;
}

/** How full a request makes the window, both in tokens. */
export interface RequestSize {
  /** By the calibrated estimate. */
  readonly estimatedTokens: number;
  readonly window: number;
}

/** Tokens as the vendor reported them. `input` counts everything read, cached or not. */
export interface ReportedUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of `cacheWrite`, what Anthropic keeps for an hour at a higher price. Default: 0. */
  readonly cacheWriteForAnHour?: number;
  readonly output: number;
}

export type StopReason =
  | 'end'
  | 'tool_calls'
  /** The answer was cut at the requested maximum. */
  | 'maximum_output'
  | 'refusal'
  | 'content_filter'
  /** The vendor interrupted a long answer with tools of its own; sent back as it is, it goes on (Anthropic's `pause_turn`). */
  | 'paused'
  /** The vendor stopped the answer because the window is full. */
  | 'window_full'
  | 'other';

export interface ModelAnswer {
  readonly content: readonly ContentPart[];
  readonly stopReason: StopReason;
  /** Absent when the vendor reported none. */
  readonly usage?: ReportedUsage;
  /** The vendor's id of the response, for support requests. */
  readonly responseId?: string;
  /** Present when images or files had to be left out for this answer: what the server took. */
  readonly learnedMedia?: MediaLimits;
}

/** A piece of an answer while it streams. */
export type StreamDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly index: number; readonly name?: string; readonly argumentsText: string };

export interface StreamOptions {
  readonly signal: AbortSignal;
  readonly onDelta: (delta: StreamDelta) => void;
}

/** One provider behind one protocol. */
export interface ModelClient {
  /**
   * Streams one answer.
   * @throws ModelCallError for everything the provider or the network refused, already classified.
   */
  answer(request: ModelRequest, options: StreamOptions): Promise<ModelAnswer>;
}

/** What a server caps of the media of a request: their bytes, or their number with the most where it is named. */
export type MediaCap = { readonly unit: 'bytes' } | { readonly unit: 'parts'; readonly maximum?: number };

/** What kind of failure it was. */
export type FailureCause =
  | 'overflow'
  | 'too_many_messages'
  | 'output_too_large'
  | 'payload_too_large'
  /** The model or its server takes no media of this kind. */
  | 'media_refused'
  | 'thinking_refused'
  | 'rate_limit'
  | 'outage'
  | 'connection'
  | 'billing'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'content_filter'
  | 'invalid_request'
  | 'unknown';

/** What could make the same conversation go through; `stop`: nothing that Holdfast can do. */
export type Repair = 'compact' | 'lower_max_tokens' | 'drop_media' | 'drop_thinking' | 'wait' | 'stop';

/** What a failed call means (`errors/classify.ts`). */
export interface ErrorVerdict {
  /** `overflow`: the view has to shrink; `retryable`: the same call may go through later. */
  readonly kind: 'overflow' | 'retryable' | 'permanent';
  readonly cause: FailureCause;
  /** Of an overflow `lower_max_tokens`: the input alone fits; the client has already tried it with less output where that was enough to be useful. */
  readonly repair: Repair;
  /** Tokens that the provider counted; absent when it stopped counting early. */
  readonly actual?: number;
  /** Tokens that the provider accepts. */
  readonly limit?: number;
  /** The limit, when a known signature names it as the window: only such a window is learned. */
  readonly window?: number;
  /** Tokens of output that fit. */
  readonly maximumOutput?: number;
  /** A cap on all media of a request together; absent when it was about one of them. */
  readonly mediaCap?: MediaCap;
  /** Milliseconds that the provider wants to be left alone. */
  readonly delayMilliseconds?: number;
  /** Which rule decided, with codes and numbers only: safe for logs and histories. */
  readonly evidence: string;
}

/** The only error that a `ModelClient` throws, apart from an abort of its signal. Its message holds no message text of the conversation. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  readonly verdict: ErrorVerdict;
  readonly status: number | undefined;
  /** The vendor's own words, shown to the user, never logged. */
  readonly vendorMessage: string;

  constructor(
    message: string,
    details: { verdict: ErrorVerdict; status?: number | undefined; vendorMessage?: string; cause?: unknown },
  ) {
    super(message, { cause: details.cause });
    this.verdict = details.verdict;
    this.status = details.status;
    this.vendorMessage = details.vendorMessage ?? '';
  }

  /** The same failure with another meaning. */
  meaning(verdict: ErrorVerdict, vendorMessage = this.vendorMessage): ModelCallError {
    return new ModelCallError(this.message, { verdict, status: this.status, vendorMessage, cause: this });
  }
}
