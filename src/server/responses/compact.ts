import type { CompactedResponse } from 'openai/resources/responses/responses';
import type { Holdfast } from '../../client/holdfast.ts';
import { RequestError } from '../problem.ts';
import { requirePlace } from './create.ts';
import { responseId } from './ids.ts';
import { compactionItem } from './items.ts';
import type { CompactionItem } from './items.ts';
import type { Asked } from './request.ts';
import { usageOf } from './resource.ts';

/** Compacts the conversation now and returns what was compacted; no items: there was nothing to compact. */
export async function compactResponse(
  client: Holdfast,
  model: string,
  { continued, content }: Asked,
  signal: AbortSignal,
): Promise<Omit<CompactedResponse, 'output'> & { readonly output: readonly CompactionItem[] }> {
  if (continued === null || content !== null) {
    throw new RequestError(
      'invalid_argument',
      'The request is refused: name what is compacted by previous_response_id or conversation, and no input.',
    );
  }
  const { conversationId } = continued;
  await requirePlace(client, model, continued);
  const before = await client.log.summaries({ conversationId });
  const { messageId } = await client.conversation.compact({ conversationId });
  const turn = await client.conversation.outcome({ conversationId, messageId, signal });
  const made = (await client.log.summaries({ conversationId })).slice(before.length);
  const usage = turn.state === 'ended' ? turn.usage : { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  return {
    id: responseId({ conversationId, messageId }),
    object: 'response.compaction',
    created_at: Math.floor(Date.now() / 1_000),
    output: made.map(({ compactionId, text }) => compactionItem(conversationId, compactionId, text)),
    usage: usageOf(usage),
  };
}
