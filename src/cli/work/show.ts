import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { formatCount } from '../render/text/numbers.ts';
import { conversationHeadLines, entryListLines } from '../render/lists/entry-list.ts';

interface ShowFlags extends ConnectionFlags {
  readonly entries: number;
  readonly full?: true;
}

const DEFAULT_ENTRIES = 20;

/** `holdfast show`: a conversation and its newest entries. */
export function showCommand(): Command {
  return withConnections(
    holdfastCommand('show', {
      description:
        'Shows state, figures and the newest entries of a conversation, those of the active branch, each with the id that `holdfast entry` takes.',
      examples: ['npx holdfast show last', 'npx holdfast show 4f1c22ab --entries 200 --full | less'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--entries <number>', 'newest entries to show', count(0, 1_000), DEFAULT_ENTRIES)
    .option('--full', 'whole texts instead of their first lines')
    .action(show);
}

async function show(reference: string, flags: ShowFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const conversation = await client.conversation.get({ conversationId });
    const { items: entries } =
      flags.entries === 0 ? { items: [] } : await client.log.entries({ conversationId, limit: flags.entries });
    const beforeSequence = entries[0]?.sequence;
    const earlier = await client.log.count({
      conversationId,
      ...(beforeSequence !== undefined && { beforeSequence }),
    });
    const activeEntryCount = earlier + entries.length;
    if (flags.json === true) {
      output.json({ conversation, activeEntryCount, entries });
      return;
    }
    const { style } = output;
    output.lines(
      conversationHeadLines(conversation, { activeEntryCount, columns: output.columns(), style, now: Date.now() }),
    );
    if (earlier > 0 && entries.length > 0)
      output.lines(['', style.dim(`… ${formatCount(earlier)} earlier (--entries)`)]);
    output.lines(entryListLines(entries, { columns: output.columns(), style, full: flags.full === true }));
  });
}
