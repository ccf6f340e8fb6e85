import type { Command } from 'commander';
import { withReader } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { summaryListLines } from './render/summary-list.ts';

interface SummariesFlags extends ConnectionFlags {
  readonly full?: true;
  readonly lineage?: true;
}

/** `holdfast summaries`: every compaction of a conversation. */
export function summariesCommand(): Command {
  return withConnections(
    holdfastCommand('summaries', {
      summary: 'list the compactions of a conversation with their summaries',
      description:
        'Lists every generation, oldest first: form, tokens before and after, what it covers, its text. The originals stay and are found with `holdfast recall`.',
      examples: [
        'npx holdfast summaries last',
        'npx holdfast summaries 4f1c22ab "release date" --full',
        'npx holdfast summaries last --lineage',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .argument('[query]', 'only summaries whose text matches')
    .option('--full', 'whole texts instead of their first lines, and each entry that is shown shorter')
    .option('--lineage', 'which entries each summary covers, over all generations')
    .action(summaries);
}

async function summaries(reference: string, query: string | undefined, flags: SummariesFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const found = await client.listSummaries({ conversationId, ...(query !== undefined && { query }) });
    const { style } = output;
    const isWanted = flags.lineage === true || flags.full === true;
    const lineage = isWanted ? await client.readLineage(conversationId) : [];
    if (flags.json === true) output.json({ conversationId, summaries: found, ...(isWanted && { lineage }) });
    else if (found.length > 0)
      output.lines(
        summaryListLines(found, {
          columns: output.columns(),
          style,
          full: flags.full === true,
          lineage,
          showLineage: flags.lineage === true,
        }),
      );
    else
      output.line(
        query === undefined ? 'Nothing was compacted yet: the window still holds everything.' : 'No summary matches.',
      );
  });
}
