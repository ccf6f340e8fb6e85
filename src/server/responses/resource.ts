/** A response: how the turn of a message stands, read from the log. */
import type { Response as OpenAiResponse, ResponseUsage } from 'openai/resources/responses/responses';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Conversation, EndedTurn, ListedEntry, TurnSummary } from '../../client/types.ts';
import { responseId } from './ids.ts';
import type { ResponseReference } from './ids.ts';
import type { CreateBody } from './request.ts';
import { decisionItem, itemsOf } from './items.ts';
import type { OutputItem } from './items.ts';

const PAGE = 200;

/** What Open Responses requires beyond the SDK's type, and items of our own. */
export interface ResponseResource extends Omit<
  OpenAiResponse,
  'output' | 'error' | 'output_text' | 'incomplete_details' | 'usage'
> {
  readonly output: readonly OutputItem[];
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly usage: ResponseUsage | null;
  readonly store: true;
  readonly max_tool_calls: null;
  readonly presence_penalty: 0;
  readonly frequency_penalty: 0;
}

/** What the request says of itself; it is not stored. */
export interface Echoed {
  readonly previousId?: string | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly isBackground?: boolean;
  readonly format?: NonNullable<CreateBody['text']>['format'];
}

/** @param turn the turn that took the message and ended; `null`: it goes on, or none took the message yet */
export function describeResponse(
  reference: ResponseReference,
  conversation: Pick<Conversation, 'agent' | 'createdAt' | 'waitingMessages'>,
  turn: EndedTurn | null,
  output: readonly OutputItem[],
  echoed: Echoed,
): ResponseResource {
  return {
    id: responseId(reference),
    object: 'response',
    created_at: secondsOf(turn?.startedAt ?? conversation.createdAt),
    completed_at: turn?.outcome === 'completed' ? secondsOf(turn.endedAt ?? turn.startedAt) : null,
    ...endOf(turn, conversation.waitingMessages > 0),
    model: conversation.agent,
    conversation: { id: reference.conversationId },
    previous_response_id: echoed.previousId ?? null,
    instructions: null,
    output,
    usage: turn === null ? null : usageOf(turn.usage),
    metadata: { ...echoed.metadata },
    background: echoed.isBackground ?? false,
    store: true,
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    truncation: 'auto',
    text: { format: formatOf(echoed) },
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    reasoning: null,
    user: '',
    max_output_tokens: null,
    max_tool_calls: null,
    service_tier: 'default',
    safety_identifier: null,
    prompt_cache_key: null,
  };
}

function formatOf({ format }: Echoed): NonNullable<NonNullable<OpenAiResponse['text']>['format']> {
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { schema, name, description, strict } = format;
  return {
    type: 'json_schema',
    name: name ?? 'answer',
    schema,
    strict: strict ?? null,
    ...(description != null && { description }),
  };
}

function endOf(
  turn: EndedTurn | null,
  isWaiting: boolean,
): Pick<ResponseResource, 'status' | 'error' | 'incomplete_details'> {
  const fine = { error: null, incomplete_details: null };
  switch (turn?.outcome) {
    case undefined:
      return { ...fine, status: isWaiting ? 'queued' : 'in_progress' };
    case 'completed':
      return { ...fine, status: 'completed' };
    case 'stopped':
      return { ...fine, status: 'cancelled' };
    case 'budget_exhausted':
    case 'context_exhausted':
      return { ...fine, status: 'incomplete', incomplete_details: { reason: turn?.reason ?? turn?.outcome ?? '' } };
    default:
      return { ...fine, status: 'failed', error: { code: turn?.outcome ?? '', message: turn?.explanation ?? '' } };
  }
}

export function usageOf({ input, cacheRead, cacheWrite, output }: TurnSummary['usage']): ResponseUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    // Providers report them within the output, or not at all.
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

/** The turn of a message if it has ended. @throws HoldfastClientError `invalid_argument`, `conversation_not_found` */
export async function endedTurn(client: Holdfast, reference: ResponseReference): Promise<EndedTurn | null> {
  try {
    const turn = await client.conversation.outcome({ ...reference, timeoutMilliseconds: 0 });
    return turn.state === 'ended' ? turn : null;
  } catch (error) {
    if (error instanceof HoldfastClientError && error.code === 'timeout') return null;
    throw error;
  }
}

/** As `GET` answers it. Items of a turn that goes on: the calls that wait for a person. */
export async function readResponse(
  client: Holdfast,
  reference: ResponseReference,
  echoed: Echoed,
  showsSummaries: boolean,
): Promise<ResponseResource> {
  const { conversationId } = reference;
  const turn = await endedTurn(client, reference);
  const conversation = await client.conversation.get({ conversationId });
  const output =
    turn === null
      ? conversation.waitingCalls.map((call) => decisionItem(conversationId, call))
      : itemsOf(
          { conversationId, turnId: turn.turnId },
          await entriesOfTurn(client, conversationId, turn.turnId),
          showsSummaries ? await summariesOf(client, conversationId) : null,
        );
  return describeResponse(reference, conversation, turn, output, echoed);
}

/** From the newest page back to where the turn begins. */
async function entriesOfTurn(client: Holdfast, conversationId: string, turnId: string): Promise<ListedEntry[]> {
  const found: ListedEntry[] = [];
  let before: number | undefined;
  for (;;) {
    const range = { conversationId, limit: PAGE, ...(before !== undefined && { beforeSequence: before }) };
    const { items, hasMore } = await client.log.entries(range);
    const ofTurn = items.filter((entry) => entry.turnId === turnId);
    found.unshift(...ofTurn);
    before = items[0]?.sequence;
    const isBegun = found.length > 0 && ofTurn[0] !== items[0];
    if (!hasMore || before === undefined || isBegun) return found;
  }
}

export async function summariesOf(client: Holdfast, conversationId: string): Promise<Map<string, string | null>> {
  const summaries = await client.log.summaries({ conversationId });
  return new Map(summaries.map(({ compactionId, text }) => [compactionId, text]));
}

function secondsOf(time: string): number {
  return Math.floor(Date.parse(time) / 1_000);
}
