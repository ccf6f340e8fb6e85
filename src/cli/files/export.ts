import { once } from 'node:events';
import { conversationCommand } from '../command.ts';
import { printableJson } from '../render/text/safe-text.ts';

/** A whole conversation as lines of a file. */
const exportWhole = conversationCommand({
  description:
    'Writes what was said in an idle conversation, a JSON object on each line: originals byte for byte, all branches, the summaries in force and those before them. `holdfast import` makes the same conversation of it, in another database or after `holdfast delete`. Memories that were learned in it go with it. Settings, limits, decisions, costs and the timeline stay here.',
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
