import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { quoteRecalled } from '../../context/log/frames.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { inOneSpelling, patternOf } from '../../context/log/one-spelling.ts';
import { leftBranchText } from './recall-open.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../runtime/names.ts';
import type { Neighbour, PartlySearched, RecallKind, RecallPassage } from '../tool.ts';
import { wholeCharacters } from '../files/text.ts';

const DEFAULT_PASSAGES = 5;
const MOST_PASSAGES = 50;

/** Characters of a path, or of the words that were found. */
const LONGEST_DETAIL = 80;

/** Characters within which words stand together: a sentence or two. */
const TOGETHER = 200;

/** Stands for what is left out. */
const ELLIPSIS = '…';

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
    `Returns passages, best first, each under a line with its entry id, where it comes from, its offset and why it was found; ${RECALL_OPEN} shows more of an entry.`,
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
    const inPart = `${(await memory.searchedInPart()).map(inPartLine).join('')}${unindexedLine(await memory.countUnindexed())}`;
    if (passages.length === 0) {
      return {
        content: `[nothing found; try other words, fewer words, or a word that must stand in the text]${inPart}`,
      };
    }
    const heads = passages.map(headOf);
    const joined = passages.map(({ neighbour }) => neighbourLine(neighbour));
    const taken = [...heads, ...joined].reduce((sum, line) => sum + line.length + 2, FRAME_CHARACTERS + inPart.length);
    const share = Math.max(100, Math.floor((resultLimit - taken) / passages.length));
    const blocks = passages.map(
      (passage, index) => `${heads[index]}\n${quoteRecalled(excerpt(passage, share))}${joined[index]}`,
    );
    return { content: `${fitting(blocks, resultLimit - FRAME_CHARACTERS - inPart.length)}${inPart}` };
  },
});

/** What is not found may stand there. */
function inPartLine({ entryId, characters, searched }: PartlySearched): string {
  return `\n\n[of entry ${entryId} only the first ${searched} of ${characters} characters are searched; ${RECALL_OPEN} reads on from offset ${searched}]`;
}

/** A search indexes a part of what is behind, as after an import, and upkeep the rest. */
function unindexedLine(entries: number): string {
  return entries === 0
    ? ''
    : `\n\n[${entries} entries are not indexed yet and were not searched; search again in a minute]`;
}

function headOf(passage: RecallPassage): string {
  const { entryId, kind, toolName, path, createdAt, offset, match, matched, branch } = passage;
  const source = [toolName, path].flatMap((each) => (each === null ? [] : [clip(each)])).join(' ');
  const why = match === 'words' || match === 'similar' ? `${match} ${clip(matched.join(' '))}` : match;
  const left = leftBranchText(branch);
  return `entry ${entryId} · ${kind}${source === '' ? '' : ` · ${source}`} · ${createdAt} · offset ${offset} · ${why}${left}`;
}

function neighbourLine(neighbour: Neighbour | undefined): string {
  if (neighbour === undefined) return '';
  const { says, entryId, branch, text } = neighbour;
  return `\n[${says === 'question' ? 'said before it' : 'said after it'}, entry ${entryId}${leftBranchText(branch)}] ${text.replaceAll(/\s+/gu, ' ')}`;
}

function clip(text: string): string {
  const line = text.replaceAll(/[\s\p{Control}]+/gu, ' ');
  return line.length <= LONGEST_DETAIL ? line : `${wholeCharacters(line.slice(0, LONGEST_DETAIL - 1))}…`;
}

/** The piece of the passage where most of what was found stands together. */
function excerpt(passage: RecallPassage, characters: number): string {
  const text = passage.text.trim();
  if (text.length <= characters) return text;
  const begin = Math.min(beginning(text, passage, characters), text.length - characters + ELLIPSIS.length);
  const before = begin === 0 ? '' : ELLIPSIS;
  const end = begin + characters - before.length;
  if (end >= text.length) return `${before}${wholeCharacters(text.slice(begin))}`;
  return `${before}${wholeCharacters(text.slice(begin, end - ELLIPSIS.length))}${ELLIPSIS}`;
}

/** Where the piece begins: some words before what was found; at the beginning when that would show it too. */
function beginning(text: string, { match, forms }: Pick<RecallPassage, 'match' | 'forms'>, characters: number): number {
  const found = densest(text, match === 'phrase' ? forms.slice(0, 1) : forms, Math.min(TOGETHER, characters / 2));
  if (found === null || found + TOGETHER <= characters) return 0;
  const from = Math.max(0, Math.floor(found - characters / 4));
  const space = text.lastIndexOf(' ', from);
  // In a text without spaces the last one may be far away.
  return space > from - characters / 8 ? space + 1 : from;
}

/** About the first place from which most of the forms stand within so many characters; `null` when none stands there. */
function densest(text: string, forms: readonly string[], within: number): number | null {
  const spelled = inOneSpelling(text);
  const places = [...spelled.matchAll(patternOf(forms))];
  let best: { readonly from: number; readonly forms: number } | null = null;
  for (const [index, { index: from }] of places.entries()) {
    const together = new Set<string>();
    for (let next = index; (places[next]?.index ?? Infinity) < from + within; next += 1)
      together.add(places[next]?.[0] ?? '');
    if (best === null || together.size > best.forms) best = { from, forms: together.size };
  }
  // Another spelling may be longer or shorter: a piece needs no exact place.
  return best === null ? null : Math.floor((best.from * text.length) / spelled.length);
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
