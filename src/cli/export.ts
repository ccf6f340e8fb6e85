import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { withReader } from './connect.ts';
import { findConversation } from './find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from './holdfast-command.ts';
import type { ConnectionFlags } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { plural } from './render/numbers.ts';

interface ExportFlags extends ConnectionFlags {
  readonly output?: string;
}

/** `holdfast export`: a whole conversation as a file. */
export function exportCommand(): Command {
  return withConnections(
    holdfastCommand('export', {
      summary: 'write a whole conversation to a file that `holdfast import` reads',
      description:
        'Writes everything that is stored of an idle conversation, a JSON object on each line: originals byte for byte, all branches, every summary with its tries, the timeline. `holdfast import` makes the same conversation of it, in another database or after `holdfast delete`. Memories that were learned in it go with it; the search index is made anew.',
      examples: [
        'npx holdfast export last > conversation.jsonl',
        'npx holdfast export 4f1c22ab --output 4f1c22ab.jsonl',
      ],
    }),
  )
    .argument(...CONVERSATION_ARGUMENT)
    .option('--output <file>', 'file to write (default: standard output)')
    .action(exportConversation);
}

async function exportConversation(reference: string, flags: ExportFlags): Promise<void> {
  const output = openOutput();
  await withReader(flags, async (client) => {
    const conversationId = await findConversation(client, reference);
    const file = flags.output === undefined ? null : createWriteStream(flags.output, { mode: 0o600 });
    let lines = 0;
    await client.exportConversation({
      conversationId,
      write: async (line) => {
        lines += 1;
        await writeLine(file ?? process.stdout, line);
      },
    });
    if (file === null) return;
    file.end();
    await finished(file);
    if (flags.json === true) output.json({ conversationId, file: flags.output, lines });
    else output.line(`Wrote ${plural(lines, 'line')} to ${flags.output ?? ''}.`);
  });
}

async function writeLine(stream: Writable, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain');
}
