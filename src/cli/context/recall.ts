import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { MemorySearch } from '../../client/types.ts';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { passageLines } from '../render/lists/passages.ts';

interface RecallFlags extends ConnectionFlags {
  readonly limit: number;
  readonly kind?: NonNullable<MemorySearch['kinds']>;
  readonly after?: string;
  readonly before?: string;
  readonly agent?: string;
}

const DEFAULT_LIMIT = 10;
const KINDS = ['user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/u;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/u;

/** A day, which begins at 0:00 UTC, or a time with its zone. @throws InvalidArgumentError */
function time(text: string): string {
  const isTime = DAY.test(text) || TIME.test(text);
  const at = new Date(text);
  // A day that the month does not have would count into the next one.
  if (!isTime || Number.isNaN(at.getTime()) || (DAY.test(text) && !at.toISOString().startsWith(text))) {
    throw new InvalidArgumentError('It takes a day (2025-03-07) or a time with its zone (2025-03-07T09:00:00Z).');
  }
  return at.toISOString();
}

/** `holdfast recall`: finds originals and summaries again. */
export function recallCommand(): Command {
  return withConnections(
    holdfastCommand('recall', {
      description:
        'Searches originals, summaries and notes of a conversation, or with --agent of all conversations of an agent, also what compaction took out of the window. Best passages first; `holdfast entry` opens the whole.',
      examples: [
        'npx holdfast recall last "port of the staging database"',
        'npx holdfast recall 4f1c22ab ECONNREFUSED --limit 3',
        'npx holdfast recall --agent default "port of the staging database"',
        'npx holdfast recall last "who pays" --kind user summary --after 2025-03-01 --before 2025-04-01',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('[query]', 'words, a phrase, an identifier or a path')
    .option('--agent <name>', 'search all conversations of this agent: give the query alone')
    .option('--limit <number>', 'passages to show', count(1, 100), DEFAULT_LIMIT)
    .addOption(new Option('--kind <kind...>', 'only passages of these kinds').choices(KINDS))
    .option('--after <time>', 'only what was said at or after: a day, or a time with its zone', time)
    .option('--before <time>', 'only what was said before', time)
    .action(recall);
}

async function recall(first: string, second: string | undefined, flags: RecallFlags): Promise<void> {
  const { reference, query } = wantedOf(first, second, flags);
  const output = openOutput();
  await withReader(flags, async (client) => {
    const { agent } = flags;
    const conversationId = reference === null ? null : await findConversation(client, reference);
    const where = definedOf({ agent, conversationId: conversationId ?? undefined });
    const { limit, kind: kinds, after, before } = flags;
    const passages = await client.memory.search({
      ...where,
      query,
      limit,
      ...(kinds !== undefined && { kinds }),
      ...(after !== undefined && { after }),
      ...(before !== undefined && { before }),
    });
    const unindexed = await client.memory.countUnindexed(where);
    // Whose id is given whole is not looked up before: a conversation that is gone would seem to hold nothing.
    if (passages.length === 0 && conversationId !== null) await client.conversation.get({ conversationId });
    const { style } = output;
    const shown = { columns: output.columns(), style, now: Date.now(), namesConversations: conversationId === null };
    if (flags.json === true)
      output.json({ conversationId, ...(agent !== undefined && { agent }), query, passages, unindexed });
    else if (passages.length === 0) output.line(nothingFound(agent));
    else output.lines(passageLines(passages, shown));
    if (unindexed > 0 && flags.json !== true) {
      output.line(style.dim(`${unindexed} entries are not indexed yet and were not searched; try again in a minute.`));
    }
  });
}

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
  { agent, after, before }: RecallFlags,
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
