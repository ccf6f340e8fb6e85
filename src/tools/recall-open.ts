import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { ToolError } from './errors.ts';
import { RECALL_OPEN, RECALL_SEARCH } from './names.ts';

/** Characters kept free for the first line. */
const HEADER_CHARACTERS = 250;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const recallOpen = defineTool({
  name: RECALL_OPEN,
  description:
    'Shows the original text of an entry of this conversation in pages, also if it no longer is in view or was shown ' +
    `clipped. Entry ids stand in the results of ${RECALL_SEARCH} and wherever something was left out.`,
  input: z.strictObject({
    entry_id: z.string().describe('Id of the entry.'),
    offset: z.number().int().min(0).optional().describe('First character to show, from 0. Default: 0.'),
    limit: z.number().int().min(1).optional().describe('Characters to show at most. Default: as many as fit.'),
  }),
  effect: 'none',
  async run({ entry_id: entryId, offset = 0, limit }, { memory, resultLimit }) {
    if (!UUID.test(entryId)) throw noSuchEntry(entryId);
    const room = resultLimit - HEADER_CHARACTERS;
    const page = await memory.open(entryId, offset, Math.min(limit ?? room, room));
    if (page === null) throw noSuchEntry(entryId);
    const { totalCharacters, kind } = page;
    if (offset >= totalCharacters && totalCharacters > 0) {
      throw new ToolError('input_refused', `The entry has ${totalCharacters} characters; offset is ${offset}.`);
    }
    const end = offset + page.text.length;
    const next =
      end < totalCharacters ? `next: ${RECALL_OPEN} {"entry_id": "${entryId}", "offset": ${end}}` : 'end of entry';
    return {
      content: `entry ${entryId} · ${kind} · characters ${offset}–${end} of ${totalCharacters} · ${next}\n${page.text}`,
    };
  },
});

function noSuchEntry(entryId: string): ToolError {
  const shown = JSON.stringify(entryId.slice(0, 80));
  return new ToolError(
    'not_found',
    `This conversation has no entry ${shown}. ${RECALL_SEARCH} finds entries and their ids.`,
  );
}
