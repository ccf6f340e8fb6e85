import { definedOf } from '../../context/policy/defined-of.ts';
import { CONVERSATION, readerCommand } from '../command.ts';
import { findConversation } from '../find-conversation.ts';
import { passageLines } from '../render/lists/passages.ts';
import { UsageError } from '../usage-error.ts';
import { argument, count, option, someOf, time } from '../options.ts';

const KINDS = ['user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary'] as const;

const recall = readerCommand({
  description:
    'Searches originals, summaries and notes of a conversation, or with --agent of all conversations of an agent. It also finds what compaction took out of the window. The best passages come first; `holdfast entry` opens the whole.',
  examples: [
    'npx holdfast recall last "port of the staging database"',
    'npx holdfast recall 4f1c22ab ECONNREFUSED --limit 3',
    'npx holdfast recall --agent default "port of the staging database"',
    'npx holdfast recall last "who pays" --kind user,summary --after 2025-03-01 --before 2025-04-01',
  ],
  arguments: [CONVERSATION, argument('[query]', 'words, a phrase, an identifier or a path')],
  options: [
    option('--agent <name>', 'search all conversations of this agent: give the query alone'),
    option('--limit <number>', 'passages to show', count(1, 100), 10),
    option('--kind <kinds>', `only passages of these kinds: ${KINDS.join(', ')}`, someOf(KINDS)),
    option('--after <time>', 'only what was said at or after: a day or time, or 30m, 12h, 7d, 4w', time),
    option('--before <time>', 'only what was said before', time),
  ],
  needs: { search: true },
  async run({ client, output }, flags, first, second) {
    const { agent, limit, kind: kinds, after, before } = flags;
    const { reference, query } = wantedOf(first, second, flags);
    const conversationId = reference === null ? null : await findConversation(client, reference);
    const where = definedOf({ agent, conversationId: conversationId ?? undefined });
    const passages = await client.memory.search({ ...where, query, limit, ...definedOf({ kinds, after, before }) });
    const unindexed = await client.memory.countUnindexed(where);
    // Whose id is given whole is not looked up before: a conversation that is gone would seem to hold nothing.
    if (passages.length === 0 && conversationId !== null) await client.conversation.get({ conversationId });
    const { columns, style } = output;
    const shown = { columns, style, now: Date.now(), namesConversations: conversationId === null };
    const behind = `${unindexed} entries are not indexed yet and were not searched; try again in a minute.`;
    return {
      json: { conversationId, ...definedOf({ agent }), query, passages, unindexed },
      lines: [
        ...(passages.length === 0 ? [nothingFound(agent)] : passageLines(passages, shown)),
        ...(unindexed === 0 ? [] : [style.dim(behind)]),
      ],
    };
  },
});

export const commands = { recall };

/** A misspelt agent must not look like one that was told nothing. */
function nothingFound(agent: string | undefined): string {
  const where = agent === undefined ? '' : ` in conversations of agent ${JSON.stringify(agent)}`;
  const next = agent === undefined ? '' : '; `npx holdfast list` names the agents';
  return `Nothing found${where}. Try other words, or a part of an identifier${next}.`;
}

/** @throws UsageError */
function wantedOf(
  first: string,
  second: string | undefined,
  { agent, after, before }: Readonly<Record<'agent' | 'after' | 'before', string | undefined>>,
): { readonly reference: string | null; readonly query: string } {
  if (agent !== undefined && second !== undefined)
    throw new UsageError(
      'usage',
      'With --agent all its conversations are searched, and one is named too.',
      'Give the query alone, or leave out --agent.',
    );
  const query = agent === undefined ? second : first;
  if (query === undefined)
    throw new UsageError('usage', 'The query is missing.', 'Give the conversation, then the query; or --agent.');
  if (query.trim() === '')
    throw new UsageError('usage', 'The query is empty.', 'Give words, a phrase, an identifier or a path.');
  if (after !== undefined && before !== undefined && before <= after)
    throw new UsageError(
      'usage',
      `Nothing is before ${before} and not before ${after}.`,
      'Give --before a later time than --after.',
    );
  return { reference: agent === undefined ? first : null, query };
}
