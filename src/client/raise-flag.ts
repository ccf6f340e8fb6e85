import { countedOf } from '../turn/spending.ts';
import type { CountedOfConversation } from '../turn/spending.ts';

/** By how much `holdfast resume` may raise a limit, in the proportions of a usual task. */
const RAISES: Readonly<Record<CountedOfConversation, string>> = {
  steps: '--steps +100',
  toolCalls: '--tool-calls +100',
  inputTokens: '--input-tokens +1000000',
  outputTokens: '--output-tokens +50000',
  cost: '--cost +2',
  wallTime: '--wall-time +600',
  idleTime: '--idle-time +86400',
};

/** The flag of `holdfast resume` that raises the limit at which a turn ended; `null`: it goes on without one. */
export function raiseFlag(reason: string | null): string | null {
  const counted = countedOf(reason ?? '');
  return counted === null ? null : RAISES[counted];
}
