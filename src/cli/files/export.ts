import { once } from 'node:events';
import { conversationCommand } from '../command.ts';
import { printableJson } from '../render/text/safe-text.ts';

const exportWhole = conversationCommand({
  description:
    'Writes an idle conversation as lines of JSON: originals byte for byte, all branches, all summaries, and memories that were learned in it. `holdfast import` makes the same conversation from it, in another database or after `holdfast delete`. Settings, limits, decisions, costs and the timeline are not in it.',
  examples: ['npx holdfast export last > conversation.jsonl'],
  needs: { temporal: false },
  async run({ client, conversationId }) {
    await client.conversation.export({
      conversationId,
      async write(line) {
        // The file has a checksum of its bytes; on a screen nobody needs it.
        const shown = process.stdout.isTTY ? printableJson(line) : line;
        if (!process.stdout.write(`${shown}\n`)) await once(process.stdout, 'drain');
      },
    });
  },
});

export const commands = { export: exportWhole };
