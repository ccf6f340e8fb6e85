import type { Command } from 'commander';
import { withReader } from './connect.ts';
import { count } from './count-option.ts';
import { findConversation } from './find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { UsageError } from './usage-error.ts';
import { passageLines } from './render/passages.ts';

interface RecallFlags extends ConnectionFlags {
  readonly limit: number;
}

const DEFAULT_LIMIT = 10;

/** `holdfast recall`: finds originals and summaries again. */
export function recallCommand(): Command {
  return withConnections(
    holdfastCommand('recall', {
      summary: 'search everything that a conversation ever held',
      description:
        'Searches originals, summaries and notes of a conversation, also what compaction took out of the window. Best passages first; `holdfast entry` opens the whole.',
      examples: [
        'npx holdfast recall last "port of the staging database"',
        'npx holdfast recall 4f1c22ab ECONNREFUSED --limit 3',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('<query>', 'words, a phrase, an identifier or a path')
    .option('--limit <number>', 'passages to show', count(1, 100), DEFAULT_LIMIT)
    .action(recall);
}

async function recall(reference: string, query: string, flags: RecallFlags): Promise<void> {
  if (query.trim() === '')
    throw new UsageError('usage', 'The query is empty.', 'Give words, a phrase, an identifier or a path.');
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const passages = await client.searchMemory({ conversationId, query, limit: flags.limit });
    // Whose id is given whole is not looked up before: a conversation that is gone would seem to hold nothing.
    if (passages.length === 0) await client.getConversation(conversationId);
    const { style } = output;
    if (flags.json === true) output.json({ conversationId, query, passages });
    else if (passages.length === 0) output.line('Nothing found. Try other words, or a part of an identifier.');
    else output.lines(passageLines(passages, query, { columns: output.columns(), style, now: Date.now() }));
  });
}
