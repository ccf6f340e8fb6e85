import { definedOf } from '../../context/policy/defined-of.ts';
import type { ErrorVerdict, RequestSize } from '../model-client.ts';
import { assessError } from './classify.ts';
import type { RawError } from './signals.ts';

/** What a failed call means for the turn; `size` is that of the refused request, where it is known. */
export function classifyError(error: RawError, now: number = Date.now(), size?: RequestSize): ErrorVerdict {
  const { kind, repair, delayMilliseconds, maximumMessages, evidence, ...told } = assessError(error, now, size);
  const { actual, limit, window, maximumOutput, mediaCap } = told;
  if (kind === 'overflow' || repair === 'compact') {
    const messages = kind === 'too_many_messages' ? definedOf({ maximum: maximumMessages }) : undefined;
    return {
      kind: 'overflow',
      repair: repair === 'lower_max_tokens' ? repair : 'compact',
      ...definedOf({ actual, limit, window, maximumOutput, messages }),
      evidence,
    };
  }
  if (repair === 'wait')
    return {
      kind: 'retryable',
      cause: kind === 'rate_limit' ? kind : 'outage',
      ...definedOf({ delayMilliseconds }),
      evidence,
    };
  const mediaRefused = kind === 'media_refused' ? (true as const) : undefined;
  return { kind: 'permanent', repair, ...definedOf({ maximumOutput, mediaRefused, mediaCap }), evidence };
}
