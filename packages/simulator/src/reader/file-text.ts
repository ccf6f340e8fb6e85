import { GAP } from './gap.ts';
import { isRecallId } from './recall-result.ts';

/** A stretch of a file without a gap, as some result shows it. */
export interface Segment {
  readonly text: string;
  /** Number of its first line; `undefined` when the result does not tell. */
  readonly firstLine: number | undefined;
  /** Begins in the middle of its first line: a long line shown in parts. */
  readonly insideLine: boolean;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

/** What one tool result shows of a file. */
export interface FilePage {
  readonly segments: readonly Segment[];
  /** How to read on: the argument of the next call; absent at the end of the file. */
  readonly next?: Readonly<Record<string, number>>;
  /** Entry under which the original is kept, when the result was clipped or cleared. */
  readonly entryId?: string;
  /** Nothing of the file is left in the result. */
  readonly cleared: boolean;
  /** Software took something out of the result. */
  readonly shortened: boolean;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** A whole result replaced by a placeholder is short. */
const PLACEHOLDER_CHARACTERS = 600;

const NUMBERED = /^ *(\d+)(?:\t|→|\| ?|: )/;

/** Whether a result holds nothing but a placeholder. */
export function isPlaceholder(text: string): boolean {
  const trimmed = text.trim();
  return (
    trimmed.length <= PLACEHOLDER_CHARACTERS &&
    GAP.test(trimmed) &&
    /^\[[^\]]*\]$/.test(trimmed) &&
    !NUMBERED.test(trimmed)
  );
}

/** Takes a result of a reading tool apart: numbered or plain lines, gaps, and the way to read on. */
export function parseFilePage(text: string, offset: number | undefined, column = 1): FilePage {
  const entryId = entryIdOf(text);
  const withId = entryId === undefined ? {} : { entryId };
  if (isPlaceholder(text)) return { segments: [], ...withId, cleared: true, shortened: true };
  const { body, footer } = splitFooter(text);
  const next = nextPage(footer);
  const parts = splitAtGaps(body);
  const startsFile = (offset === undefined || offset <= 1) && column <= 1;
  const segments = parts.map((part, index): Segment => {
    const { text: shown, firstLine } = withoutNumbers(part);
    return {
      text: shown,
      firstLine: firstLine ?? (index === 0 ? (offset ?? 1) : undefined),
      insideLine: index === 0 && column > 1,
      fromStart: index === 0 && startsFile,
      toEnd: index === parts.length - 1 && next === undefined,
    };
  });
  return { segments, ...(next === undefined ? {} : { next }), ...withId, cleared: false, shortened: parts.length > 1 };
}

/** The text of numbered lines and the number of the first; text that is not numbered stays as it is. */
function withoutNumbers(part: string): { text: string; firstLine: number | undefined } {
  const lines = part.split('\n');
  const filled = lines.filter((line) => line !== '');
  const numbered = filled.filter((line) => NUMBERED.test(line)).length;
  // A few lines may lack their number: a cut one, or a heading of the tool's.
  if (numbered === 0 || numbered < filled.length * 0.8) return { text: part, firstLine: undefined };
  const index = lines.findIndex((line) => NUMBERED.test(line));
  const firstLine = Number(NUMBERED.exec(lines[index] ?? '')?.[1]) - index;
  return { text: lines.map((line) => line.replace(NUMBERED, '')).join('\n'), firstLine };
}

/** Tools say in a bracketed last line what was shown and how to read on. */
function splitFooter(text: string): { body: string; footer: string } {
  const trimmed = text.trimEnd();
  const start = trimmed.lastIndexOf('\n') + 1;
  const last = trimmed.slice(start);
  const isFooter =
    /^\s*[[(<].*[\])>]\s*$/.test(last) &&
    /\b(?:lines?|page|offset|end of file|characters?|more)\b/i.test(last) &&
    !GAP.test(last);
  return isFooter ? { body: trimmed.slice(0, Math.max(0, start - 1)), footer: last } : { body: text, footer: '' };
}

function nextPage(footer: string): Readonly<Record<string, number>> | undefined {
  if (!/\b(?:read on|continue|more|next|rest|go on)\b/i.test(footer)) return undefined;
  const matches = [...footer.matchAll(/\b(offset|column|start_line|from_line|page|start)\b["'`]?\s*[:=]?\s*(\d+)/gi)];
  if (matches.length === 0) return undefined;
  return Object.fromEntries(matches.map((match) => [(match[1] ?? '').toLowerCase(), Number(match[2])]));
}

/** The texts between gaps. What a gap cuts in two may be half a line, which would make half a fact: it is left out. */
function splitAtGaps(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const gap = GAP.exec(rest);
    if (gap === null) return [...parts, rest];
    const before = rest.slice(0, Math.max(0, gap.index - 1));
    parts.push(before.slice(0, Math.max(0, before.lastIndexOf('\n'))));
    const after = rest.slice(gap.index + gap[0].length).replace(/^\n/, '');
    const newline = after.indexOf('\n');
    rest = newline === -1 ? '' : after.slice(newline + 1);
  }
}

function entryIdOf(text: string): string | undefined {
  const mention = /\brecall_open\b[^\n\]]*/.exec(text)?.[0] ?? GAP.exec(text)?.[0] ?? '';
  const id = UUID.exec(mention)?.[0];
  return id !== undefined && isRecallId(id) ? id : undefined;
}

/** Segments in the order of the file, those that follow each other joined. */
export function joinSegments(segments: readonly Segment[]): readonly Segment[] {
  const sorted = [...segments].sort((left, right) => (left.firstLine ?? Infinity) - (right.firstLine ?? Infinity));
  const joined: Segment[] = [];
  for (const segment of sorted) {
    const before = joined.at(-1);
    const glue = before === undefined ? undefined : glueBetween(before, segment);
    if (before !== undefined && glue !== undefined) {
      joined[joined.length - 1] = { ...before, text: `${before.text}${glue}${segment.text}`, toEnd: segment.toEnd };
    } else if (before === undefined || !isRepeated(before, segment)) joined.push(segment);
  }
  return joined;
}

/** What joins two segments when the second goes on where the first ends. */
function glueBetween(before: Segment, after: Segment): string | undefined {
  if (before.firstLine === undefined || after.firstLine === undefined || before.toEnd) return undefined;
  const nextLine = before.firstLine + before.text.split('\n').length;
  if (after.insideLine) return after.firstLine === nextLine - 1 ? '' : undefined;
  return after.firstLine === nextLine ? '\n' : undefined;
}

/** The same page read twice. */
function isRepeated(before: Segment, after: Segment): boolean {
  return before.firstLine === after.firstLine && !after.insideLine && before.text.startsWith(after.text);
}
