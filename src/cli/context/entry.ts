import { readerCommand } from '../command.ts';
import { findConversation } from '../find-conversation.ts';
import { entryListLines, lateResultLines } from '../render/lists/entry-list.ts';
import { describeContent } from '../render/lists/entry-words.ts';
import { safeText } from '../render/text/safe-text.ts';
import { isId } from '../../store/database/ids.ts';
import { UsageError } from '../usage-error.ts';
import { findEntry, readEntryArgument } from './find-entry.ts';
import { argument, count, option } from '../options.ts';

const entry = readerCommand({
  description:
    'Prints an entry, or a summary by the id of its compaction. Into a pipe or a file it writes the original byte for byte. On a terminal it shows the text without control characters, and late results of the tool call. With --json it prints parts and late results; bytes that are no UTF-8 are base64.',
  examples: [
    'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
    'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab > output.txt',
    'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab --context 3',
    'npx holdfast entry last 12',
  ],
  arguments: [
    argument(
      '<id>',
      'id of the entry or the compaction; `holdfast show` and `holdfast recall` print it. Or its conversation',
    ),
    argument('[number]', 'number of the entry, where its conversation is given', (text) => readEntryArgument(text)),
  ],
  options: [
    option(
      '--context <number>',
      'list so many entries before and after it, or where the summary was made',
      count(1, 100),
    ),
  ],
  async run({ client, output }, { context, json = false }, first, number) {
    const { columns, style } = output;
    const entryId =
      number === undefined ? idOf(first) : await findEntry(client, await findConversation(client, first), number);
    if (context !== undefined) {
      const entries = await client.log.around({ entryId, count: context });
      return { json: { entries }, lines: entryListLines(entries, { columns, style, full: false, marked: entryId }) };
    }
    const { original, ...opened } = await client.log.open({ entryId });
    const bytes = original ?? Buffer.from(describeContent(opened));
    if (!json && !process.stdout.isTTY) return writeAll(bytes);
    return {
      json: { entry: { ...opened, original: original === null ? null : encodeOriginal(original) } },
      lines: [
        safeText(Buffer.from(bytes).toString('utf8')).trimEnd(),
        ...lateResultLines(opened.lateResults, { columns, style, full: true }),
      ],
    };
  },
});

export const commands = { entry };

/** @throws UsageError */
function idOf(given: string): string {
  if (isId(given.trim())) return given;
  throw new UsageError(
    'usage',
    `"${given}" is no id of an entry or a compaction.`,
    'Give the whole id, or the conversation and then the number: `npx holdfast show <conversation>` prints both.',
  );
}

function encodeOriginal(original: Uint8Array): { readonly encoding: 'utf8' | 'base64'; readonly data: string } {
  try {
    return { encoding: 'utf8', data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(original) };
  } catch {
    return { encoding: 'base64', data: Buffer.from(original).toString('base64') };
  }
}

/** Waits until the pipe has taken everything: an exit would cut it off. */
async function writeAll(bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error == null ? resolve() : reject(error)));
  });
}
