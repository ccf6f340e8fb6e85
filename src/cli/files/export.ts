import { once } from 'node:events';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { withReader } from '../connect.ts';
import { findConversation } from '../find-conversation.ts';
import { CONVERSATION_ARGUMENT, holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { printableJson } from '../render/text/safe-text.ts';
import { plural } from '../render/text/numbers.ts';
import { UsageError } from '../usage-error.ts';

interface ExportFlags extends ConnectionFlags {
  readonly output?: string;
}

/** `holdfast export`: a whole conversation as a file. */
export function exportCommand(): Command {
  return withConnections(
    holdfastCommand('export', {
      description:
        'Writes what was said in an idle conversation, a JSON object on each line: originals byte for byte, all branches, the summaries in force and those before them. `holdfast import` makes the same conversation of it, in another database or after `holdfast delete`. Memories that were learned in it go with it. Settings, limits, decisions, costs and the timeline stay here.',
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
    const write = (writeLine: (line: string) => Promise<void>): Promise<void> =>
      client.conversation.export({ conversationId, write: writeLine });
    if (flags.output === undefined) {
      await write(async (line) => {
        // The file has a checksum of its bytes; on a screen nobody needs it.
        const shown = process.stdout.isTTY ? printableJson(line) : line;
        if (!process.stdout.write(`${shown}\n`)) await once(process.stdout, 'drain');
      });
      return;
    }
    const lines = await writeFileWhole(flags.output, write);
    if (flags.json === true) output.json({ conversationId, file: flags.output, lines });
    else output.line(`Wrote ${plural(lines, 'line')} to ${flags.output}.`);
  });
}

/**
 * Writes a file beside its place and renames it when it is whole: an export that fails leaves an older file as it was. What
 * is no file, a pipe or a device, is written to where it is.
 * @returns how many lines it has
 * @throws UsageError when the file cannot be written
 */
async function writeFileWhole(
  path: string,
  write: (writeLine: (line: string) => Promise<void>) => Promise<void>,
): Promise<number> {
  const place = await realpath(path).catch(() => path);
  const found = await stat(place).catch(() => null);
  if (found !== null && !found.isFile()) return writeLines(place, write);
  const unfinished = `${place}.${process.pid}.unfinished`;
  try {
    const lines = await writeLines(unfinished, write);
    await onDisk(rename(unfinished, place));
    return lines;
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeLines(
  path: string,
  write: (writeLine: (line: string) => Promise<void>) => Promise<void>,
): Promise<number> {
  const file = await onDisk(open(path, 'w', 0o600));
  try {
    let lines = 0;
    await write(async (line) => {
      lines += 1;
      await onDisk(file.appendFile(`${line}\n`));
    });
    // A pipe has no disk to wait for.
    if ((await file.stat()).isFile()) await onDisk(file.sync());
    return lines;
  } finally {
    await file.close();
  }
}

/** What goes wrong there is about the file, and not about Postgres, whose errors have codes of the same names. */
async function onDisk<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      'usage',
      `The export cannot be written: ${reason}.`,
      'Name another file with --output, or make room for it.',
    );
  });
}
