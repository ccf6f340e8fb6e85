import { conversationCommand } from '../command.ts';
import { contextChartLines } from '../render/lists/context-chart.ts';

const context = conversationCommand({
  description:
    'Shows what the next model call would hold, by kind and in tokens, and when a compaction comes and what it aims for.',
  examples: ['npx holdfast context last', 'npx holdfast context 4f1c22ab --json | jq .context.total'],
  needs: { temporal: false },
  async run({ client, conversationId, output }) {
    const report = await client.log.context({ conversationId });
    return { json: { conversationId, context: report }, lines: contextChartLines(report, output) };
  },
});

export const commands = { context };
