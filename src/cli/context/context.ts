import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { contextChartLines } from '../render/lists/context-chart.ts';

/** `holdfast context`: what fills the window. */
export function contextCommand(): Command {
  return withConnections(
    holdfastCommand('context', {
      description:
        'Shows what the next model call would hold, by kind, in tokens, and the numbers in force: when a compaction comes and how far it goes.',
      examples: ['npx holdfast context last', 'npx holdfast context 4f1c22ab --json | jq .context.total'],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .action(context);
}

async function context(reference: string, flags: ConnectionFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const report = await client.log.context({ conversationId });
    if (flags.json === true) output.json({ conversationId, context: report });
    else output.lines(contextChartLines(report, { columns: output.columns(), style: output.style }));
  });
}
