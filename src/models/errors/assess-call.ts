import { assessError } from './classify.ts';
import type { ErrorAssessment } from './assessment.ts';
import type { RequestSize } from '../model-client.ts';
import type { RawError } from './signals.ts';
import { detectSilentOverflow, type AnsweredCall } from './silent-overflow.ts';

/** A model call that is over: refused or broken off, or answered. */
export interface FinishedCall extends RawError {
  /** Of an answer that came: its stop reason and usage beside the size of the request. Absent for an error. */
  readonly answer?: AnsweredCall;
}

/**
 * What is wrong with a call and what mends it, from all that is known of it: status, headers, body or stream event, or stop
 * reason, usage and size of the request. `null`: an answer with which nothing is wrong. Pure; `now` in milliseconds since 1970.
 */
export function assessCall(call: FinishedCall, now: number, size?: RequestSize): ErrorAssessment | null {
  if (call.answer === undefined) return assessError(call, now, size);
  const silent = detectSilentOverflow({ provider: call.provider, ...call.answer });
  if (!silent.overflow) return null;
  const { evidence, actual } = silent;
  const { window: limit } = call.answer;
  return { kind: 'overflow', repair: 'compact', ...(actual === undefined ? {} : { actual }), limit, evidence };
}

/** An answer that came, as `assessCall` takes it. */
export function answeredCall(provider: string, answer: AnsweredCall): FinishedCall {
  return { provider, status: 200, headers: {}, body: undefined, text: undefined, streamed: true, answer };
}
