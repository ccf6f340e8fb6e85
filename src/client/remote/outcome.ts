import type { z } from 'zod';
import { outputIn } from '../../turn/final-output.ts';
import { endedTurn, servedCommand } from '../api/conversation-results.ts';
import { ENDPOINTS } from '../api/endpoints.ts';
import { HoldfastClientError } from '../errors.ts';
import type { Requests } from './requests.ts';
import type { EndedTurn, ServedCommand } from '../types.ts';

/** How long one request waits: shorter than what proxies cut off. Milliseconds. */
const WAIT_MILLISECONDS = 20_000;

/** Asks the server again and again until the turn has ended, also while the server cannot serve. */
export async function waitForOutcome<Output>(
  requests: Requests,
  {
    output,
    timeoutMilliseconds = Infinity,
    signal,
    conversationId,
    messageId,
  }: {
    readonly conversationId: string;
    readonly messageId: string;
    readonly output?: z.ZodType<Output>;
    readonly timeoutMilliseconds?: number;
    readonly signal?: AbortSignal;
  },
): Promise<EndedTurn<Output> | ServedCommand> {
  const deadline = performance.now() + timeoutMilliseconds;
  for (;;) {
    signal?.throwIfAborted();
    const left = Math.max(0, deadline - performance.now());
    const asked = { conversationId, messageId, timeoutMilliseconds: Math.min(left, WAIT_MILLISECONDS) };
    try {
      const found = await requests.call(ENDPOINTS['conversation.outcome'], asked, signal);
      const served = servedCommand.safeParse(found);
      return served.success ? served.data : withOutput(endedTurn.parse(found), output);
    } catch (error) {
      const waits = error instanceof HoldfastClientError && error.code === 'timeout';
      // A timer may end a millisecond early.
      if (!waits) await requests.waitAfter(error, signal, Math.max(0, deadline - performance.now()) + 2);
      if (performance.now() >= deadline) throw error;
    }
  }
}

function withOutput<Output>(turn: EndedTurn, form: z.ZodType<Output> | undefined): EndedTurn<Output> {
  const { output: _, ...ended } = turn;
  const found = form === undefined || turn.outcome !== 'completed' ? null : outputIn([turn.text], form);
  return found !== null && 'value' in found ? { ...ended, output: found.value } : ended;
}
