import { z } from 'zod';
import type { MediaPart } from '../../context/log/content.ts';
import { quoteRecalled } from '../../context/log/frames.ts';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { wholeCharacters } from '../files/text.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../runtime/names.ts';
import type { ToolMemory, RecalledEntry } from '../tool.ts';

/** Characters kept free for the first line. */
const HEADER_CHARACTERS = 250;

/** Entries on each side of one. */
const MOST_AROUND = 20;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const recallOpen = defineTool({
  name: RECALL_OPEN,
  description:
    'Shows the original text of an entry of this conversation, or of one that a memory comes from, in pages, with its images and files, and with what was said around it if asked for, also if it ' +
    `no longer is in view or was shown clipped. Entry ids stand in the results of ${RECALL_SEARCH} and wherever something was left out.`,
  input: z.strictObject({
    entry_id: z.string().describe('Id of the entry.'),
    offset: z.number().int().min(0).optional().describe('First character to show, from 0. Default: 0.'),
    limit: z.number().int().min(1).optional().describe('Characters to show at most. Default: as many as fit.'),
    around: z
      .number()
      .int()
      .min(1)
      .max(MOST_AROUND)
      .optional()
      .describe(
        'Entries before it, and as many after it, to show too; long ones by their beginnings. Not in conversations of another user.',
      ),
  }),
  effect: 'none',
  async run({ entry_id: entryId, offset = 0, limit, around }, { memory, resultLimit }) {
    if (!UUID.test(entryId)) throw noSuchEntry(entryId);
    const room = resultLimit - HEADER_CHARACTERS;
    // Two code units hold any character.
    const wanted = { entryId, offset, limit: Math.min(Math.max(limit ?? room, 2), room) };
    const page = await (around === undefined ? openOne(memory, wanted) : openRange(memory, wanted, around));
    if (page === null) throw noSuchEntry(entryId);
    const { totalCharacters, title } = page;
    if (offset >= totalCharacters && totalCharacters > 0) {
      const what = around === undefined ? 'entry' : 'range';
      throw new ToolError('input_refused', `The ${what} has ${totalCharacters} characters; offset is ${offset}.`);
    }
    const end = page.from + page.text.length;
    const asked =
      (around === undefined ? '' : `, "around": ${around}`) + (limit === undefined ? '' : `, "limit": ${limit}`);
    const next =
      end < totalCharacters ? `next: ${RECALL_OPEN} {"entry_id": "${entryId}"${asked}, "offset": ${end}}` : page.ending;
    const text = `${title} · characters ${page.from}–${end} of ${totalCharacters} · ${next}\n${page.shown}`;
    const media = offset === 0 ? (page.media ?? []) : [];
    return { content: media.length === 0 ? text : [{ type: 'text', text }, ...media] };
  },
});

interface Wanted {
  readonly entryId: string;
  readonly offset: number;
  readonly limit: number;
}

/** What is shown of a text. Pages that begin where the one before ended are the text. */
interface Cut {
  /** Of its first code unit. */
  readonly from: number;
  readonly text: string;
}

/** Leaves out halves of characters at both ends. */
function cutAt(offset: number, piece: string): Cut {
  const text = wholeCharacters(piece);
  return { from: offset + piece.indexOf(text), text };
}

interface Page extends Cut {
  /** Begins the first line. */
  readonly title: string;
  readonly totalCharacters: number;
  /** The text as it is shown. */
  readonly shown: string;
  /** Ends the first line of the last page. */
  readonly ending: string;
  readonly media?: readonly MediaPart[];
}

async function openOne(memory: ToolMemory, { entryId, offset, limit }: Wanted): Promise<Page | null> {
  const page = await memory.open(entryId, offset, limit);
  if (page === null) return null;
  const cut = cutAt(offset, page.text);
  const title = `entry ${entryId} · ${page.kind}${elsewhereText(page)}${leftBranchText(page.branch)}`;
  return { ...page, ...cut, shown: quoteRecalled(cut.text), title, ending: 'end of entry' };
}

async function openRange(memory: ToolMemory, { entryId, offset, limit }: Wanted, count: number): Promise<Page | null> {
  const range = await memory.around(entryId, count);
  if (range === null) return null;
  if (range === 'of_another_user') {
    throw new ToolError(
      'no_permission',
      `Entry ${entryId} is of a conversation of another user: what was said around it is not shown. ${RECALL_OPEN} without "around" shows the entry itself.`,
    );
  }
  const { entries, branch } = range;
  const elsewhere = elsewhereText(range);
  const whole = rangeText(entries);
  const shown = cutAt(offset, whole.slice(offset, offset + limit));
  return {
    title: `${entries.length} entries around entry ${entryId}${elsewhere}${leftBranchText(branch)}`,
    ...shown,
    shown: shown.text,
    totalCharacters: whole.length,
    ending: 'end of range',
  };
}

function elsewhereText({ conversationId }: { readonly conversationId?: string }): string {
  return conversationId === undefined ? '' : ` · of conversation ${conversationId}`;
}

function noSuchEntry(entryId: string): ToolError {
  const shown = JSON.stringify(entryId.slice(0, 80));
  return new ToolError(
    'not_found',
    `This conversation has no entry ${shown}. ${RECALL_SEARCH} finds entries and their ids.`,
  );
}

/** Characters of one entry of a range: a long result would hide what stands around it. */
const LONGEST_IN_RANGE = 4_000;

/** Entries as one text, each under a line that names it; `recall_open` pages through it. */
function rangeText(entries: readonly RecalledEntry[]): string {
  return entries.map((entry) => `${lineOf(entry)}\n${bodyOf(entry)}`).join('\n\n');
}

function lineOf({ entryId, kind, toolName, createdAt, branch }: RecalledEntry): string {
  return `entry ${entryId} · ${kind}${toolName === null ? '' : ` · ${toolName}`} · ${createdAt}${leftBranchText(branch)}`;
}

function bodyOf({ entryId, text, isClipped }: RecalledEntry): string {
  if (text.length <= LONGEST_IN_RANGE && !isClipped) return text.trim() === '' ? '[no text]' : quoteRecalled(text);
  const shown = quoteRecalled(wholeCharacters(text.slice(0, LONGEST_IN_RANGE)));
  return `${shown}\n[more of it: ${RECALL_OPEN} {"entry_id": "${entryId}"}]`;
}

/** How a line names what was said on a branch that was left; nothing for what is on the active one. */
export function leftBranchText(branch: number | undefined): string {
  return branch === undefined ? '' : ` · on branch ${branch}, which was left`;
}
