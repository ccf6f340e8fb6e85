import { definedOf } from '../../context/policy/defined-of.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import { newId } from '../../store/database/ids.ts';
import { RequestError } from '../problem.ts';
import { responseId } from './ids.ts';
import type { ResponseReference } from './ids.ts';
import { INCLUDE_SUMMARIES } from './request.ts';
import type { Asked, Continued, CreateBody } from './request.ts';
import { endedTurn } from './resource.ts';
import type { Echoed } from './resource.ts';

export interface CreatedResponse {
  readonly reference: ResponseReference;
  readonly echoed: Echoed;
  readonly showsSummaries: boolean;
  /** Number of the newest event before the message. */
  readonly afterEvent: number;
}

/** Starts a conversation or sends into one, as a message that begins a turn of its own. */
export async function createResponse(client: Holdfast, body: CreateBody, asked: Asked): Promise<CreatedResponse> {
  const { continued, content } = asked;
  if (content === null) throw new RequestError('invalid_argument', 'The request is refused: input says nothing.');
  const sent =
    continued === null ? await start(client, body, content) : await goOn(client, body, { ...continued, content });
  return {
    ...sent,
    echoed: {
      isBackground: body.background ?? false,
      metadata: body.metadata ?? {},
      previousId: body.previous_response_id ?? null,
      format: body.text?.format ?? null,
    },
    showsSummaries: body.include?.includes(INCLUDE_SUMMARIES) ?? false,
  };
}

/** The form of the answer, where the request asks for one. */
function outputOf({ text }: CreateBody) {
  return text?.format?.type === 'json_schema' ? { output: text.format.schema } : {};
}

async function start(client: Holdfast, body: CreateBody, content: readonly ContentPart[]) {
  // The first message has the id of its conversation.
  const id = newId();
  const { model, user } = body;
  const chosen = { ...definedOf({ user: user ?? undefined }), ...outputOf(body) };
  const options = { agent: model, conversationId: id, startKey: id, ...chosen };
  await client.start(content, options);
  return { reference: { conversationId: id, messageId: id }, afterEvent: 0 };
}

async function goOn(
  client: Holdfast,
  body: CreateBody,
  { content, ...continued }: Continued & { readonly content: readonly ContentPart[] },
) {
  const { conversationId } = continued;
  const { eventCount } = await requirePlace(client, body.model, continued);
  const messageId = newId();
  await client.conversation.send({ conversationId, messageId, content, mode: 'queue', ...outputOf(body) });
  return { reference: { conversationId, messageId }, afterEvent: eventCount };
}

/**
 * Whether the conversation is of the agent and stands where the request goes on.
 * @throws RequestError `invalid_argument`
 */
export async function requirePlace(client: Holdfast, model: string, { conversationId, ...place }: Continued) {
  const conversation = await client.conversation.get({ conversationId });
  const { agent, turn } = conversation;
  if (agent !== model) {
    throw new RequestError('invalid_argument', `The conversation is one of the model ${agent}: name that one.`);
  }
  const { messageId } = place;
  const ended = messageId === null ? null : await endedTurn(client, { conversationId, messageId });
  const turnId = place.turnId ?? ended?.turnId ?? null;
  if (turnId !== null && turnId !== turn?.turnId) {
    const at = messageId === null ? 'That item' : responseId({ conversationId, messageId });
    throw new RequestError(
      'invalid_argument',
      `${at} is not where the conversation ends: go on from its newest response, or name the conversation ${conversationId}.`,
    );
  }
  return conversation;
}
