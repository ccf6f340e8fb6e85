import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { counted } from '../files/text.ts';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { LIST_FILES } from '../runtime/names.ts';
import { DIRECTORIES_NOT_ENTERED, walkFiles } from '../files/walk-files.ts';
import type { WalkedEntry } from '../files/walk-files.ts';
import { locate, requireExisting } from '../files/workspace.ts';

/** Entries of one page, if the result limit allows as many. */
const PAGE_ENTRIES = 1_000;

/** Entries that are counted for "of n"; beyond it the count is only a lower bound. */
const COUNTED_ENTRIES = 100_000;

/** Characters kept free for the last line. */
const FOOTER_CHARACTERS = 200;

export const listFiles = defineTool({
  name: LIST_FILES,
  description:
    'Lists files and directories of the workspace with their sizes, sorted by name, in pages. Directories end with "/". ' +
    `With recursive, everything below is listed, except what is in ${DIRECTORIES_NOT_ENTERED.join(', ')} (list those by their own path).`,
  input: z.strictObject({
    path: z.string().optional().describe('Directory, relative to the workspace. Default: the workspace itself.'),
    recursive: z.boolean().optional().describe('Also list what is in directories below. Default: false.'),
    offset: z.number().int().min(1).optional().describe('First entry to show, from 1. Default: 1.'),
  }),
  effect: 'none',
  async run({ path = '.', recursive = false, offset = 1 }, context) {
    const { signal, resultLimit } = context;
    const directory = requireExisting(await locate(context, path));
    const lines: string[] = [];
    let used = 0;
    let count = 0;
    let full = false;
    for await (const entry of walkFiles(directory, { recursive, signal })) {
      count += 1;
      if (count >= COUNTED_ENTRIES) break;
      if (count < offset || full) continue;
      const line = await lineOf(entry);
      full =
        lines.length >= PAGE_ENTRIES || (lines.length > 0 && used + line.length + 1 > resultLimit - FOOTER_CHARACTERS);
      if (full) continue;
      lines.push(line);
      used += line.length + 1;
    }
    if (count === 0) return { content: `[${directory.display} is empty]` };
    if (offset > count)
      throw new ToolError(
        'input_refused',
        `There ${count === 1 ? 'is only one entry' : `are only ${count} entries`}; offset is ${offset}.`,
      );
    return { content: `${lines.join('\n')}\n${footer(offset, lines.length, count)}` };
  },
});

function footer(offset: number, shown: number, count: number): string {
  const last = offset + shown - 1;
  const total = count >= COUNTED_ENTRIES ? `more than ${COUNTED_ENTRIES}` : String(count);
  const next = last < count ? `list on with offset ${last + 1}` : 'end of list';
  return `[entries ${offset}–${last} of ${total}; ${next}]`;
}

async function lineOf(entry: WalkedEntry): Promise<string> {
  const name = printable(entry.display);
  switch (entry.kind) {
    case 'directory':
      return entry.notEntered ? `${name}/ · not entered` : `${name}/`;
    case 'link':
      return `${name} · symbolic link`;
    case 'other':
      return `${name} · neither file nor directory`;
    case 'file': {
      const size = await lstat(entry.existing).then(
        (found) => counted(found.size, 'byte'),
        () => 'gone',
      );
      return `${name} · ${size}`;
    }
  }
}

/** A name with a line break or another control character would look like two entries. */
function printable(path: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(path) ? JSON.stringify(path) : path;
}
