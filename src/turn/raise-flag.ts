import { COUNTED_OF_CONVERSATION, countedOf } from './spending.ts';
import type { ConversationCounts, CountedOfConversation } from './spending.ts';

/** Flags of `holdfast resume`, and by how much it usually raises a limit, in the proportions of a usual task. */
const RAISES: Readonly<Record<CountedOfConversation, { readonly flag: string; readonly usual: number }>> = {
  steps: { flag: '--steps', usual: 100 },
  toolCalls: { flag: '--tool-calls', usual: 100 },
  inputTokens: { flag: '--input-tokens', usual: 1_000_000 },
  outputTokens: { flag: '--output-tokens', usual: 50_000 },
  cost: { flag: '--cost', usual: 2 },
  wallTime: { flag: '--wall-time', usual: 600 },
  idleTime: { flag: '--idle-time', usual: 86_400 },
};

/** The flag of `holdfast resume` that raises the limit at which a turn ended; `null`: it goes on without one. */
export function raiseFlag(reason: string | null): string | null {
  const counted = countedOf(reason ?? '');
  // A resume waives the rest before it.
  if (counted === null || counted === 'idleTime') return null;
  return raiseFlags({ [counted]: RAISES[counted].usual });
}

/** Flags of `holdfast resume` for these raises, as `--steps +100 --cost +2`. */
export function raiseFlags(raise: Partial<ConversationCounts>): string {
  return COUNTED_OF_CONVERSATION.flatMap((counted) => {
    const by = raise[counted];
    return by === undefined ? [] : [`${RAISES[counted].flag} +${by}`];
  }).join(' ');
}
