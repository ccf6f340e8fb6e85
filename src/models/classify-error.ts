import { assessError } from './assess-error.ts';
import type { ErrorAssessment } from './error-assessment.ts';
import type { RawError } from './error-signals.ts';
import type { ErrorVerdict } from './model-client.ts';

/**
 * What a failed call means for the turn. Pure: `now` (milliseconds since 1970) is only read when
 * the server names a date to wait for.
 */
export function classifyError(error: RawError, now: number = Date.now()): ErrorVerdict {
  return toVerdict(assessError(error, now));
}

function toVerdict(assessment: ErrorAssessment): ErrorVerdict {
  const { kind, repair, actual, limit, maximumOutput, maximumMessages, delayMilliseconds, evidence } = assessment;
  const output = maximumOutput === undefined ? {} : { maximumOutput };
  if (kind === 'overflow' || repair === 'compact') {
    return {
      kind: 'overflow',
      repair: repair === 'lower_max_tokens' ? repair : 'compact',
      ...(actual === undefined ? {} : { actual }),
      ...(limit === undefined ? {} : { limit }),
      ...(limit === undefined || kind !== 'overflow' ? {} : { window: limit }),
      ...output,
      ...(kind === 'too_many_messages'
        ? { messages: maximumMessages === undefined ? {} : { maximum: maximumMessages } }
        : {}),
      evidence,
    };
  }
  if (repair === 'wait') {
    return {
      kind: 'retryable',
      cause: kind === 'rate_limit' ? 'rate_limit' : 'outage',
      ...(delayMilliseconds === undefined ? {} : { delayMilliseconds }),
      evidence,
    };
  }
  const refused = {
    ...(kind === 'media_refused' && { mediaRefused: true as const }),
    ...(assessment.mediaCap !== undefined && { mediaCap: assessment.mediaCap }),
  };
  return { kind: 'permanent', repair, ...output, ...refused, evidence };
}
