/**
 * Ids of this door carry what they name, so it keeps no table of its own: a response is a message and the turn that took it, an item is
 * a part of such a turn.
 */
import { RequestError } from '../problem.ts';

export interface ResponseReference {
  readonly conversationId: string;
  readonly messageId: string;
}

/** What an item tells about its place. Compactions name no turn. */
export interface ItemPlace {
  readonly conversationId: string;
  readonly turnId: string | null;
}

const RESPONSE = /^resp_(?<conversation>[0-9a-f]{32})_(?<message>[0-9a-f]{32})$/u;
const ITEM = /^(?:msg|rs|tc|ask)_(?<conversation>[0-9a-f]{32})_(?<turn>[0-9a-f]{32})_[\w.]+$/u;
const COMPACTION = /^cmp_(?<conversation>[0-9a-f]{32})_[0-9a-f]{32}$/u;

export function responseId({ conversationId, messageId }: ResponseReference): string {
  return `resp_${short(conversationId)}_${short(messageId)}`;
}

/** @param name of the part in its turn, such as the number of the model call */
export function itemId(
  kind: 'msg' | 'rs' | 'tc' | 'ask',
  place: { readonly conversationId: string; readonly turnId: string },
  name: string,
): string {
  return `${kind}_${short(place.conversationId)}_${short(place.turnId)}_${name}`;
}

export function compactionItemId(conversationId: string, compactionId: string): string {
  return `cmp_${short(conversationId)}_${short(compactionId)}`;
}

/** @throws RequestError `invalid_argument` */
export function readResponseId(id: string, field: string): ResponseReference {
  const { conversation, message } = RESPONSE.exec(id)?.groups ?? {};
  if (conversation !== undefined && message !== undefined) {
    return { conversationId: long(conversation), messageId: long(message) };
  }
  throw new RequestError('invalid_argument', `${field} is no id of a response of this server.`, {
    fields: [{ field, message: 'is unknown' }],
  });
}

/** `null`: not an id of this server's items. */
export function readItemId(id: string): ItemPlace | null {
  const { conversation, turn } = (ITEM.exec(id) ?? COMPACTION.exec(id))?.groups ?? {};
  if (conversation === undefined) return null;
  return { conversationId: long(conversation), turnId: turn === undefined ? null : long(turn) };
}

function short(uuid: string): string {
  return uuid.replaceAll('-', '');
}

function long(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}
