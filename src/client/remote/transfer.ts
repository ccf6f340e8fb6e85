// Files of conversations and bytes of originals, which are no JSON.

import { HoldfastClientError } from '../errors.ts';
import { importedConversation } from '../api/conversation-results.ts';
import type { ConversationMethods } from '../conversation-methods.ts';
import type { LogMethods } from '../log-methods.ts';
import type { ImportedConversation, OpenedEntry } from '../types.ts';
import { piecesOf, queryOf } from './requests.ts';
import type { Requests } from './requests.ts';

/** @throws HoldfastClientError; what `write` throws */
export async function exportRemote(
  requests: Requests,
  { conversationId, write }: Parameters<ConversationMethods['export']>[0],
): Promise<void> {
  const response = await requests.open(`/conversations/${encodeURIComponent(conversationId)}/export`);
  const lines = piecesOf(response, '\n');
  for (;;) {
    const { done, value } = await lines.next().catch((error: unknown) => {
      throw new HoldfastClientError('server_unreachable', 'the server ended the file early', { cause: error });
    });
    if (done === true) return;
    await write(value);
  }
}

export async function importRemote(
  requests: Requests,
  { lines, ...choices }: Parameters<ConversationMethods['import']>[0],
): Promise<ImportedConversation> {
  let body = '';
  for await (const line of lines) body += `${line}\n`;
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await requests.open(`/conversations/import?${queryOf(choices)}`, { method: 'POST', headers, body });
  return importedConversation.parse(await response.json());
}

/** @param read opens an entry without its original */
export async function openRemote(
  requests: Requests,
  read: (options: { readonly entryId: string }) => Promise<OpenedEntry>,
  options: Parameters<LogMethods['open']>[0],
): Promise<OpenedEntry> {
  const entry = await read(options);
  if (entry.originalBytes === null) return { ...entry, original: null };
  const response = await requests.open(`/entries/${encodeURIComponent(options.entryId)}/content`);
  return { ...entry, original: new Uint8Array(await response.arrayBuffer()) };
}
