import { quoteRecalled } from '../../context/log/frames.ts';
import { leftBranchText } from '../left-branch.ts';
import { RECALL_OPEN } from '../runtime/names.ts';
import type { RecalledEntry } from '../tool.ts';
import { wholeCharacters } from '../files/whole-characters.ts';

/** Characters of one entry of a range: a long result would hide what stands around it. */
const LONGEST_IN_RANGE = 4_000;

/** Entries as one text, each under a line that names it; `recall_open` pages through it. */
export function rangeText(entries: readonly RecalledEntry[]): string {
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
