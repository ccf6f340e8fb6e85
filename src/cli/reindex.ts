import type { Command } from 'commander';
import { withClient } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { interruptible } from './interruption.ts';
import { openOutput } from './output.ts';
import { plural } from './render/numbers.ts';

/** `holdfast reindex`: builds the search index anew from the log. */
export function reindexCommand(): Command {
  return withConnections(
    holdfastCommand('reindex', {
      summary: 'build the search index anew from the log',
      description:
        'Builds the index that `holdfast recall` and the recall tools search anew, of one conversation or of all. Needed only when the index was damaged or Postgres came with other dictionaries: what is new is indexed by itself.',
      examples: ['npx holdfast reindex', 'npx holdfast reindex last'],
    }),
  )
    .argument('[conversation]', 'id, its beginning or end if only one has it, or `last`; default: all')
    .action(reindex);
}

async function reindex(reference: string | undefined, flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  await withClient(flags, async (client) => {
    const conversationId = reference === undefined ? undefined : await findConversation(client, reference);
    const { result } = await interruptible((signal) =>
      client.reindex({ ...(conversationId !== undefined && { conversationId }), signal }),
    );
    if (flags.json === true) output.json(result);
    else
      output.line(
        `Indexed ${plural(result.passages, 'passage')} of ${plural(result.conversations, 'conversation')}${result.embedded > 0 ? `; made ${plural(result.embedded, 'embedding')}` : ''}.`,
      );
  });
}
