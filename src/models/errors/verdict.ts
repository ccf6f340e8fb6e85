import type { ErrorVerdict, RequestSize } from '../model-client.ts';
import { assessError } from './classify.ts';
import type { RawError } from './signals.ts';

/** What a failed call means for the turn; `size` is that of the refused request, where it is known. */
export function classifyError(error: RawError, now: number = Date.now(), size?: RequestSize): ErrorVerdict {
  const {
    kind,
    repair,
    delayMilliseconds: delay,
    maximumMessages,
    evidence,
    ...assessed
  } = assessError(error, now, size);
  const { actual, limit, window, maximumOutput, mediaCap } = assessed;
  const output = maximumOutput === undefined ? {} : { maximumOutput };
  if (kind === 'overflow' || repair === 'compact') {
    return {
      kind: 'overflow',
      repair: repair === 'lower_max_tokens' ? repair : 'compact',
      ...(actual !== undefined && { actual }),
      ...(limit !== undefined && { limit }),
      ...(window !== undefined && { window }),
      ...output,
      ...(kind === 'too_many_messages' && {
        messages: maximumMessages === undefined ? {} : { maximum: maximumMessages },
      }),
      evidence,
    };
  }
  if (repair === 'wait') {
    const cause = kind === 'rate_limit' ? kind : 'outage';
    return { kind: 'retryable', cause, ...(delay !== undefined && { delayMilliseconds: delay }), evidence };
  }
  const refused = { ...(kind === 'media_refused' && { mediaRefused: true as const }), ...(mediaCap && { mediaCap }) };
  return { kind: 'permanent', repair, ...output, ...refused, evidence };
}
