import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { count } from '../count-option.ts';
import { findConversation } from '../find-conversation.ts';
import { findEntry, readEntryArgument } from './find-entry.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { entryListLines } from '../render/lists/entry-list.ts';
import { safeText } from '../render/text/safe-text.ts';
import { lateResultLines } from '../render/lists/entry-list.ts';
import { describeContent } from '../render/lists/entry-words.ts';
import { isId } from '../../store/database/ids.ts';
import { UsageError } from '../usage-error.ts';

/** `holdfast entry`: one entry with its whole original. */
export function entryCommand(): Command {
  return withConnections(
    holdfastCommand('entry', {
      description:
        'Prints an entry, or a summary by the id of its compaction: into a pipe or a file its original byte for byte, on a terminal its text without control characters, and below it what replaced attempts of the tool call reported too late. With --json its parts and late results; bytes that are no UTF-8 come as base64.',
      examples: [
        'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
        'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab > output.txt',
        'npx holdfast entry 01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab --context 3',
        'npx holdfast entry last 12',
      ],
    }),
  )
    .argument(
      '<id>',
      'id of the entry or the compaction; `holdfast show` and `holdfast recall` print it. Or its conversation',
    )
    .argument('[number]', 'number of the entry, where its conversation is given')
    .option(
      '--context <number>',
      'list so many entries before and after it, or where the summary was made',
      count(1, 100),
    )
    .action(entry);
}

interface EntryFlags extends ConnectionFlags {
  readonly context?: number;
}

async function entry(first: string, number: string | undefined, flags: EntryFlags): Promise<void> {
  const output = openOutput();
  const numbered = number === undefined ? null : readEntryArgument(number);
  if (numbered === null) requireId(first);
  await withReader(flags, async (client) => {
    const id = numbered === null ? first : await findEntry(client, await findConversation(client, first), numbered);
    if (flags.context !== undefined) {
      const entries = await client.log.around({ entryId: id, count: flags.context });
      if (flags.json === true) output.json({ entries });
      else
        output.lines(
          entryListLines(entries, { columns: output.columns(), style: output.style, full: false, marked: id }),
        );
      return;
    }
    const { original, ...opened } = await client.log.open({ entryId: id });
    const text = describeContent(opened);
    if (flags.json === true) {
      output.json({ entry: { ...opened, original: original === null ? null : encodeOriginal(original) } });
    } else if (process.stdout.isTTY) {
      output.line(safeText(original === null ? text : Buffer.from(original).toString('utf8')).trimEnd());
      const { lateResults } = opened;
      output.lines(lateResultLines(lateResults, { columns: output.columns(), style: output.style, full: true }));
    } else await writeAll(original ?? Buffer.from(text, 'utf8'));
  });
}

/** @throws UsageError */
function requireId(given: string): void {
  if (isId(given.trim())) return;
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
