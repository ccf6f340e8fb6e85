import type { Holdfast } from '../../client/holdfast.ts';
import { needsPerson } from '../mcp-turn.ts';
import type { ResponseReference } from './ids.ts';

/** Until the turn that took the message has ended, or a call waits for a person. */
export async function waitForResponse(
  client: Holdfast,
  reference: ResponseReference,
  caller: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([caller, over.signal]);
  const ended = client.conversation.outcome({ ...reference, signal });
  try {
    await Promise.race([ended, needsPerson(client, reference.conversationId, signal)]);
  } finally {
    over.abort();
    // It is rejected with the abort where the other one came first.
    ended.catch(() => undefined);
  }
}
