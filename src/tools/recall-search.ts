import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { definedOf } from '../context/defined-of.ts';
import { leftBranchText } from './left-branch.ts';
import { RECALL_OPEN, RECALL_SEARCH } from './names.ts';
import type { Neighbour, RecallKind, RecallPassage } from './tool.ts';
import { wholeCharacters } from './whole-characters.ts';

const DEFAULT_PASSAGES = 5;
const MOST_PASSAGES = 50;

/** Characters of a path, or of the words that were found. */
const LONGEST_DETAIL = 80;

/** Characters kept free for the lines around the passages. */
const FRAME_CHARACTERS = 200;

const RECALL_KINDS = [
  'user',
  'assistant',
  'tool_result',
  'note',
  'branch_summary',
  'summary',
] as const satisfies readonly RecallKind[];

/** A day, or a time with or without its zone, in UTC where none is named. */
const time = z
  .union([z.iso.date(), z.iso.datetime({ offset: true, local: true })])
  .transform((text) =>
    new Date(/T.*(?:Z|[+-]\d\d:?\d\d)$/u.test(text) || !text.includes('T') ? text : `${text}Z`).toISOString(),
  );

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
    kinds: z
      .array(z.enum(RECALL_KINDS))
      .min(1)
      .optional()
      .describe('Only these: user for what the user said, tool_result for what was read. Default: all.'),
    after: time.optional().describe('Only what was said at or after this day or time, such as 2026-03-01.'),
    before: time.optional().describe('Only what was said before this day or time.'),
  }),
  effect: 'none',
  async run({ query, limit = DEFAULT_PASSAGES, ...filter }, { memory, resultLimit }) {
    const passages = await memory.search(query, limit, definedOf(filter));
    if (passages.length === 0) {
      return { content: '[nothing found; try other words, fewer words, or a word that must stand in the text]' };
    }
    const heads = passages.map(headOf);
    const joined = passages.map(({ neighbour }) => neighbourLine(neighbour));
    const taken = [...heads, ...joined].reduce((sum, line) => sum + line.length + 2, FRAME_CHARACTERS);
    const share = Math.max(100, Math.floor((resultLimit - taken) / passages.length));
    const blocks = passages.map((passage, index) => `${heads[index]}\n${excerpt(passage, share)}${joined[index]}`);
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

function neighbourLine(neighbour: Neighbour | undefined): string {
  if (neighbour === undefined) return '';
  const { says, entryId, text } = neighbour;
  return `\n[${says === 'question' ? 'said before it' : 'said after it'}, entry ${entryId}] ${text.replaceAll(/\s+/gu, ' ')}`;
}

function clip(text: string): string {
  return text.length <= LONGEST_DETAIL ? text : `${wholeCharacters(text.slice(0, LONGEST_DETAIL - 1))}…`;
}

/** The piece of the passage around the first word that was found. */
function excerpt(passage: RecallPassage, characters: number): string {
  const text = passage.text.trim();
  if (text.length <= characters) return text;
  const begin = Math.min(firstFound(text, passage.forms, characters), text.length - characters);
  const before = begin === 0 ? '' : '…';
  const piece = wholeCharacters(text.slice(begin, begin + characters - before.length));
  const end = begin + characters >= text.length ? '' : '…';
  return `${before}${end === '' ? piece : wholeCharacters(piece.slice(0, -1))}${end}`;
}

/** Where the piece begins: some words before the first found one; at the beginning when that would show it too. */
function firstFound(text: string, forms: readonly string[], characters: number): number {
  const lower = text.toLowerCase();
  const places = forms.map((form) => lower.indexOf(form)).filter((place) => place >= 0);
  const first = Math.min(...places);
  if (!Number.isFinite(first) || first < characters / 2) return 0;
  return text.lastIndexOf(' ', Math.floor(first - characters / 4)) + 1;
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
