import type { Holdfast } from '../client/holdfast.ts';
import type { Conversation } from '../client/types.ts';
import { isId } from '../store/database/ids.ts';
import { safeLine } from './render/text/safe-text.ts';
import { truncate } from './render/text/text-width.ts';
import { UsageError } from './usage-error.ts';

type Named = Pick<Conversation, 'conversationId' | 'title'>;

/** Conversations of one page; the id is looked for in all pages. */
const PAGE = 500;
const LISTED_CANDIDATES = 5;

/** The end of the id: its beginning is the time, which neighbours share. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/**
 * The id that an argument means: a whole id, `last`, or a beginning or end that only one has.
 * @throws UsageError `conversation_not_found`, `conversation_ambiguous`, `no_conversation`
 */
export async function findConversation(client: Holdfast, reference: string): Promise<string> {
  const wanted = reference.trim().replace(/^…/u, '').toLowerCase();
  if (isId(wanted)) return wanted;
  if (wanted === 'last') {
    const { items } = await client.conversation.list({ limit: 1 });
    const [newest] = items;
    if (newest !== undefined) return newest.conversationId;
    throw new UsageError('no_conversation', 'There is no conversation yet.', 'Start one: npx holdfast start "<task>"');
  }
  const found: Conversation[] = [];
  if (/^[0-9a-f-]+$/u.test(wanted)) {
    let page = await client.conversation.list({ limit: PAGE });
    found.push(...matching(page.items, wanted));
    while (page.hasMore) {
      page = await client.conversation.list({ limit: PAGE, before: page.items.at(-1)?.conversationId ?? '' });
      found.push(...matching(page.items, wanted));
    }
  }
  return onlyOne(found, reference);
}

/** Those whose id begins or ends with the text. */
function matching<Row extends Named>(conversations: readonly Row[], wanted: string): Row[] {
  return conversations.filter(
    ({ conversationId }) => conversationId.startsWith(wanted) || conversationId.endsWith(wanted),
  );
}

/** @throws UsageError when there is none or more than one */
export function onlyOne(found: readonly Named[], reference: string): string {
  const [only, ...others] = found;
  if (only === undefined) {
    throw new UsageError(
      'conversation_not_found',
      `No conversation has an id that begins or ends with "${truncate(safeLine(reference), 60)}".`,
      '`npx holdfast list` shows the conversations; `last` means the one that was active last.',
    );
  }
  if (others.length === 0) return only.conversationId;
  const candidates = found
    .slice(0, LISTED_CANDIDATES)
    .map(({ conversationId, title }) => `\n  ${conversationId}  ${truncate(safeLine(title), 40)}`)
    .join('');
  const rest = found.length > LISTED_CANDIDATES ? `\n  and ${found.length - LISTED_CANDIDATES} more` : '';
  throw new UsageError(
    'conversation_ambiguous',
    `"${reference}" fits ${found.length} conversations:${candidates}${rest}`,
    'Give more characters of the id.',
  );
}
