import { z } from 'zod';
import { counted } from '../files/text.ts';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { READ_FILE } from '../runtime/names.ts';
import { pageLines, type LinePage } from '../files/page-lines.ts';
import { isBinary } from '../files/read-lines.ts';
import { locate, openFile, requireExisting } from '../files/workspace.ts';

/** Lines of one page when the model does not say; the result limit usually ends a page earlier. */
const PAGE_LINES = 2_000;

/** Bytes up to which lines are counted for "of n"; more would take longer than the answer is worth. */
const COUNTED_BYTES = 64 * 1_024 * 1_024;

/** Characters kept free for the last line. */
const FOOTER_CHARACTERS = 200;

export const readFile = defineTool({
  name: READ_FILE,
  description:
    'Reads a text file of the workspace in pages. Each line is shown as its number, a tab and its text; the last line ' +
    'says which lines were shown and with which offset to read on.',
  input: z.strictObject({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    offset: z.number().int().min(1).optional().describe('First line to show, from 1. Default: 1.'),
    limit: z.number().int().min(1).optional().describe(`Lines to show at most. Default: ${PAGE_LINES}.`),
    column: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('First character of the first line, from 1, to read on in a very long line. Default: 1.'),
  }),
  effect: 'none',
  async run({ path, offset = 1, limit = PAGE_LINES, column = 1 }, context) {
    const { signal, resultLimit } = context;
    const place = requireExisting(await locate(context, path));
    const { display } = place;
    const file = await openFile(place);
    try {
      if (await isBinary(file)) {
        const { size } = await file.stat();
        throw new ToolError('not_text', `${display} is a binary file of ${size} bytes; read_file shows text only.`);
      }
      const characters = resultLimit - FOOTER_CHARACTERS;
      const page = await pageLines(file, {
        offset,
        lines: limit,
        characters,
        column,
        countedBytes: COUNTED_BYTES,
        signal,
      });
      if (page.lineCount === 0) return { content: '[the file is empty]' };
      if (offset > page.lineCount) {
        throw new ToolError('input_refused', `${display} has ${counted(page.lineCount, 'line')}; offset is ${offset}.`);
      }
      return { content: `${page.text}\n${footer(page, offset, column)}` };
    } finally {
      await file.close();
    }
  },
});

function footer(page: LinePage, offset: number, column: number): string {
  const total = page.counted ? String(page.lineCount) : `more than ${page.lineCount}`;
  const from = column > 1 ? `line ${offset} from character ${column}` : null;
  if (page.nextColumn !== null) {
    return `[${from ?? `line ${offset}`} of ${total}, cut; read on with offset ${offset} and column ${page.nextColumn}]`;
  }
  const next = page.lastLine < page.lineCount ? `read on with offset ${page.lastLine + 1}` : 'end of file';
  return `[lines ${offset}–${page.lastLine} of ${total}; ${next}]`;
}
