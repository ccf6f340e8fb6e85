import type { MediaCap } from '../model-client.ts';

/** What kind of failure it was. */
export type ErrorKind =
  | 'overflow'
  | 'too_many_messages'
  | 'output_too_large'
  | 'payload_too_large'
  /** The model or its server takes no media of this kind. */
  | 'media_refused'
  | 'thinking_refused'
  | 'rate_limit'
  | 'outage'
  | 'billing'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'content_filter'
  | 'invalid_request'
  | 'unknown';

/** What can be done about it. */
export type Repair = 'compact' | 'lower_max_tokens' | 'drop_media' | 'drop_thinking' | 'wait' | 'stop';

export interface ErrorAssessment {
  readonly kind: ErrorKind;
  readonly repair: Repair;
  /** Tokens that the provider counted; absent when it stopped counting early. */
  readonly actual?: number;
  /** Tokens that the provider accepts. */
  readonly limit?: number;
  /** The limit, when a known signature names it as the window: only such a window is learned. */
  readonly window?: number;
  /** Tokens of output that fit. */
  readonly maximumOutput?: number;
  /** Most messages that the provider accepts in a request. */
  readonly maximumMessages?: number;
  /** What is capped of all images and files together. */
  readonly mediaCap?: MediaCap;
  /** Milliseconds that the provider wants to be left alone. */
  readonly delayMilliseconds?: number;
  /** Which rule decided, with codes and numbers only: safe for logs and histories. */
  readonly evidence: string;
}
