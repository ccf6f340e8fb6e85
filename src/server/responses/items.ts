/** Entries of the log as items. Pure. */
import type {
  ResponseCompactionItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { ListedEntry, WaitingCall } from '../../client/types.ts';
import { compactionItemId, itemId } from './ids.ts';

/** A call of one of the agent's own tools. A function call would ask the caller to run it. */
export interface ToolCallItem {
  readonly type: 'holdfast:tool_call';
  readonly id: string;
  /** `incomplete`: it failed, or its outcome is unknown; `output` says more. */
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly name: string;
  readonly arguments: string;
  readonly output: string | null;
}

/** A call that waits for a person; decide on it by `POST /v1/conversations/{conversation}/approve`, `deny` or `answer`. */
export interface DecisionItem {
  readonly type: 'holdfast:decision_request';
  readonly id: string;
  readonly status: 'completed';
  readonly conversation: string;
  readonly call: string;
  readonly kind: WaitingCall['kind'];
  readonly name: string;
  readonly arguments: string;
  readonly expires_at: string;
}

export interface CompactionItem extends ResponseCompactionItem {
  readonly status: 'completed';
  /** Only where it is asked for; `null`: what left the window is shown shorter, without a summary. */
  readonly summary?: string | null;
}

export type OutputItem = ResponseOutputMessage | ResponseReasoningItem | CompactionItem | ToolCallItem | DecisionItem;

/** An event of a streamed response, without its number. */
export interface ResponseEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Place {
  readonly conversationId: string;
  readonly turnId: string;
}

/** @param name tells items of the same kind in a turn apart */
export function messageItem(place: Place, name: string, text: string, status: ResponseOutputMessage['status']) {
  const message: ResponseOutputMessage = {
    type: 'message',
    id: itemId('msg', place, name),
    role: 'assistant',
    status,
    content: text === '' && status === 'in_progress' ? [] : [textPart(text)],
  };
  return message;
}

export function textPart(text: string) {
  return { type: 'output_text' as const, text, annotations: [], logprobs: [] };
}

export function reasoningItem(
  place: Place,
  name: string,
  text: string,
  status: 'in_progress' | 'completed' | 'incomplete',
) {
  const item: ResponseReasoningItem = {
    type: 'reasoning',
    id: itemId('rs', place, name),
    status,
    summary: text === '' && status === 'in_progress' ? [] : [{ type: 'summary_text', text }],
  };
  return item;
}

/** The calls of an answer, before they ran. */
export function toolCallItems(
  place: Place,
  { callNumber, content }: Pick<ListedEntry, 'callNumber' | 'content'>,
): ToolCallItem[] {
  return content.flatMap((part) =>
    part.type === 'tool_call'
      ? [
          {
            type: 'holdfast:tool_call',
            id: itemId('tc', place, `${callNumber}.${part.index}`),
            status: 'in_progress',
            name: part.name,
            arguments: part.arguments,
            output: null,
          },
        ]
      : [],
  );
}

export function finishedCall(
  item: ToolCallItem,
  { isError, content }: Pick<ListedEntry, 'isError' | 'content'>,
): ToolCallItem {
  return { ...item, status: isError ? 'incomplete' : 'completed', output: textOf(content) };
}

export function decisionItem(conversationId: string, waiting: WaitingCall): DecisionItem {
  const { turnId, call, kind, tool, expiresAt } = waiting;
  return {
    type: 'holdfast:decision_request',
    id: itemId('ask', { conversationId, turnId }, call),
    status: 'completed',
    conversation: conversationId,
    call,
    kind,
    name: tool,
    arguments: waiting.arguments,
    expires_at: expiresAt,
  };
}

/** @param summary `undefined`: not asked for */
export function compactionItem(conversationId: string, compactionId: string, summary?: string | null): CompactionItem {
  const id = compactionItemId(conversationId, compactionId);
  // The log holds it: the id alone leads back to it.
  return {
    type: 'compaction',
    id,
    status: 'completed',
    encrypted_content: id,
    ...(summary !== undefined && { summary }),
  };
}

/** What an answer says, by kind. */
export function spoken(content: readonly ContentPart[], kind: 'text' | 'thinking'): string {
  return content.map((part) => (part.type === kind ? part.text : '')).join('');
}

/** The items of a turn's entries, as they stand in the log. @param summaries by compaction; `null`: not asked for */
export function itemsOf(
  place: Place,
  entries: readonly ListedEntry[],
  summaries: ReadonlyMap<string, string | null> | null,
): OutputItem[] {
  const items: OutputItem[] = [];
  for (const entry of entries) {
    const { kind, content, compactionId } = entry;
    if (kind === 'assistant') {
      const name = String(entry.callNumber);
      const [thinking, text] = [spoken(content, 'thinking'), spoken(content, 'text')];
      if (thinking !== '') items.push(reasoningItem(place, name, thinking, 'completed'));
      if (text !== '') items.push(messageItem(place, name, text, 'completed'));
      items.push(...toolCallItems(place, entry));
    } else if (kind === 'tool_result') {
      const id = itemId('tc', place, `${entry.callNumber}.${entry.callIndex}`);
      const at = items.findIndex((item) => item.id === id);
      const call = items[at];
      if (call?.type === 'holdfast:tool_call') items[at] = finishedCall(call, entry);
    } else if (compactionId !== null) {
      const summary = summaries === null ? undefined : (summaries.get(compactionId) ?? null);
      items.push(compactionItem(place.conversationId, compactionId, summary));
    }
  }
  return items;
}
