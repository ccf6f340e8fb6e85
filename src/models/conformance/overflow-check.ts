import { ModelCallError } from '../model-client.ts';
import { detectSilentOverflow } from '../errors/assess-call.ts';
import { fillerWords } from './answer-checks.ts';
import type { Verdict } from './capability.ts';
import { ask, failureWords, type Probe } from './probe.ts';

/** Tokens above which the request that must be refused is too large to send without being asked for. */
export const LARGEST_UNASKED_WINDOW = 300_000;
/** More than the window by this share, for tokenizers that need fewer tokens than words. */
const EXCESS = 1.25;
const SMALLEST_OUTPUT = 16;

export interface ServedWindow {
  /** Tokens. */
  readonly tokens: number;
  /** Where the number comes from. */
  readonly source: string;
}

/** Sends more than the window holds: the refusal must be understood, since compaction hangs on it. */
export async function checkOverflowShape(probe: Probe, window: ServedWindow | null): Promise<Verdict> {
  if (window === null) return { status: 'not_checked', detail: 'the window is not known: name it with --window' };
  if (window.tokens > LARGEST_UNASKED_WINDOW && window.source !== '--window') {
    const size = window.tokens.toLocaleString('en-US');
    const detail = `a request over ${size} tokens is sent only when asked for: --window ${window.tokens}`;
    return { status: 'not_checked', detail };
  }
  const words = Math.ceil(window.tokens * EXCESS);
  try {
    const answer = await probe.ask({ messages: [ask(fillerWords(words))], maximumOutput: SMALLEST_OUTPUT });
    const silent = detectSilentOverflow({
      provider: 'the server',
      usage: answer.usage,
      stopReason: answer.stopReason,
      window: window.tokens,
      estimatedInput: words,
      isCalibrated: true,
      maximumOutput: SMALLEST_OUTPUT,
    });
    if (silent !== null)
      return { status: 'limited', detail: `no error, but noticed: ${silent.evidence}. Let the server refuse instead` };
    const counted = answer.usage === undefined ? '' : ` as ${answer.usage.input} tokens`;
    const detail = `${words} words were taken${counted}: the window is larger than ${window.tokens} (${window.source})`;
    return { status: 'not_checked', detail };
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.verdict.kind === 'retryable') throw error;
    return verdictOf(error);
  }
}

function verdictOf(error: ModelCallError): Verdict {
  const { verdict } = error;
  if (verdict.kind !== 'overflow') {
    const detail = `a refusal that is not understood as an overflow, see holdfast model explain-error: ${failureWords(error)}`;
    return { status: 'fails', detail };
  }
  const figures = [
    verdict.actual === undefined ? null : `counted ${verdict.actual}`,
    verdict.limit === undefined ? null : `limit ${verdict.limit}`,
  ].filter((figure) => figure !== null);
  const status = error.status === undefined ? 'an error in the stream' : `HTTP ${error.status}`;
  return { status: 'works', detail: [status, ...(figures.length === 0 ? ['names no numbers'] : figures)].join(', ') };
}
