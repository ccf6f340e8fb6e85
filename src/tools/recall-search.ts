import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { leftBranchText } from './left-branch.ts';
import { RECALL_OPEN, RECALL_SEARCH } from './names.ts';
import type { RecallPassage } from './tool.ts';
import { wholeCharacters } from './whole-characters.ts';

const DEFAULT_PASSAGES = 5;
const MOST_PASSAGES = 50;

/** Characters of a path, or of the words that were found. */
const LONGEST_DETAIL = 80;

/** Characters kept free for the lines around the passages. */
const FRAME_CHARACTERS = 200;

export const recallSearch = defineTool({
  name: RECALL_SEARCH,
  description:
    'Searches everything that was ever said, read or summarized in this conversation, also what no longer is in view. ' +
    `Returns passages, best first, each under a line with its entry id, where it comes from, its offset and why it was found, and which later entry may supersede it; ${RECALL_OPEN} shows more of an entry.`,
  input: z.strictObject({
    query: z.string().min(1).describe('Words that stand in what you look for: names, numbers, identifiers.'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MOST_PASSAGES)
      .optional()
      .describe(`Passages at most. Default: ${DEFAULT_PASSAGES}.`),
  }),
  effect: 'none',
  async run({ query, limit = DEFAULT_PASSAGES }, { memory, resultLimit }) {
    const passages = await memory.search(query, limit);
    if (passages.length === 0) {
      return { content: '[nothing found; try other words, fewer words, or a word that must stand in the text]' };
    }
    const heads = passages.map(headOf);
    const taken = heads.reduce((sum, head) => sum + head.length + 3, FRAME_CHARACTERS);
    const share = Math.max(100, Math.floor((resultLimit - taken) / passages.length));
    const blocks = passages.map((passage, index) => `${heads[index]}\n${excerpt(passage, share)}`);
    return { content: fitting(blocks, resultLimit - FRAME_CHARACTERS) };
  },
});

function headOf(passage: RecallPassage): string {
  const { entryId, kind, toolName, path, createdAt, offset, match, matched, branch, updatedBy } = passage;
  const source = [toolName, path === null ? null : clip(path)].filter((each) => each !== null).join(' ');
  const why = match === 'words' || match === 'similar' ? `${match} ${clip(matched.join(' '))}` : match;
  const left = leftBranchText(branch);
  const superseded = updatedBy === null ? '' : ` · may be superseded by entry ${updatedBy}`;
  return `entry ${entryId} · ${kind}${source === '' ? '' : ` · ${source}`} · ${createdAt} · offset ${offset} · ${why}${left}${superseded}`;
}

function clip(text: string): string {
  return text.length <= LONGEST_DETAIL ? text : `${wholeCharacters(text.slice(0, LONGEST_DETAIL - 1))}…`;
}

function excerpt(passage: RecallPassage, characters: number): string {
  const text = passage.text.trim();
  if (text.length <= characters) return text;
  return `${wholeCharacters(text.slice(0, characters - 1))}…`;
}

/** Whole blocks only: a block cut by the result limit would lose its id. */
function fitting(blocks: readonly string[], characters: number): string {
  const kept: string[] = [];
  let used = 0;
  for (const block of blocks) {
    if (kept.length > 0 && used + block.length + 2 > characters) break;
    kept.push(block);
    used += block.length + 2;
  }
  const left = blocks.length - kept.length;
  return kept.join('\n\n') + (left > 0 ? `\n\n[${left} more found; ask with a smaller limit or other words]` : '');
}
