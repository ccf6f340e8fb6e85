import type { ContentPart, MediaPart } from '../log/content.ts';
import { LINES, frame, nameText, quoteText, tagsOf } from '../log/frames.ts';
import type { CompactionForm } from '../plan/plan.ts';
import type { CompactionPolicy, ContinuationTexts, PlaceholderTexts } from '../policy/policy.ts';

/**
 * The note that follows a pass inside a turn. Without it models take the shorter context for a
 * finished task: of 43 e-mails, 30 were read (seeds/wolffish.md).
 */
export function continuationText(options: RecallOptions = {}): string {
  const lookUp =
    options.recall === false
      ? 'Trust the values in the summary; repeat a call only if a value that you need is nowhere in your context.'
      : 'Trust the values in the summary; when you need a detail that is no longer here, look it up with recall_search ' +
        'or recall_open instead of repeating the call that produced it.';
  return [
    LINES.compacted,
    'The context was compacted to make room: older messages are summarized, or shown shortened. The task is not ' +
      'finished because of that. Continue where you left off.',
    'Do not give a final answer until all steps are complete. Do not redo completed work.',
    lookUp,
  ].join('\n');
}

/** The note after a compaction of a form, in the policy's own words if it has some. */
export function continuationContent(
  { continuationText: own }: CompactionPolicy,
  form: CompactionForm,
  options: RecallOptions = {},
): readonly ContentPart[] {
  return [{ type: 'text', text: own === null ? continuationText(options) : wordsAfter(own, form) }];
}

function wordsAfter(own: string | ContinuationTexts, form: CompactionForm): string {
  if (typeof own === 'string') return own;
  if (form === 'extractive_summary') return own.afterExtract;
  return form === 'summary' || form === 'shorter_summary' ? own.afterSummary : own.withoutSummary;
}

/** Where a turn stands, as its model is told at the end of each request. */
export interface RuntimeNote {
  /** Model calls of the turn, the one that is made now included. */
  readonly iteration: number;
  readonly toolCalls: number;
}

/**
 * Numbers that change with every request, so they stand behind the cache mark and are no entry of
 * the log; the advice that goes with them is part of the system prompt.
 */
export function runtimeContent({ iteration, toolCalls }: RuntimeNote): readonly ContentPart[] {
  const counts = `  Tool iteration this turn: ${iteration}\n  Tools called this turn: ${toolCalls}`;
  return [{ type: 'text', text: frame('runtime', counts) }];
}

/** The note after an answer that was cut at the maximum output; the next step goes on from it. */
export function cutAnswerContent(): readonly ContentPart[] {
  return note(
    LINES.answerCut,
    'Your answer reached the maximum output and was cut there. Go on exactly where it ends, without repeating any of it.',
  );
}

export function missingCallContent(): readonly ContentPart[] {
  return note(
    LINES.callMissing,
    'Your answer said that it calls a tool, but no call came with it. Call the tool, or give your final answer.',
  );
}

export function invalidOutputContent(problem: string): readonly ContentPart[] {
  return note(
    LINES.answerRefused,
    `Your final answer is not of the form that was asked for: ${quoteText(problem)}. Give it again, as the JSON alone.`,
  );
}

function note(line: string, words: string): readonly ContentPart[] {
  return [{ type: 'text', text: `${line}\n${words}` }];
}

/** The result of a call that is not shown, among messages of the user: no provider takes one as a result. */
export function earlierResult(toolName: string, content: readonly ContentPart[]): readonly ContentPart[] {
  const { open, close } = tagsOf('earlierResult', { tool: toolName, call: 'not shown' });
  return [{ type: 'text', text: open }, ...quotedContent(content), { type: 'text', text: close }];
}

export function quotedContent(content: readonly ContentPart[]): readonly ContentPart[] {
  return content.map((part) => (part.type === 'text' ? { ...part, text: quoteText(part.text) } : part));
}

/** Whether the agent has a tool that opens originals; without one a placeholder must not name it. */
export interface RecallOptions {
  /** Default: true. */
  readonly recall?: boolean;
  /** Default: the built-in ones. */
  readonly texts?: PlaceholderTexts | null;
}

/** 1234567 → "1,234,567"; the same on every machine, unlike `toLocaleString`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function wayBack(entryId: string, options: RecallOptions): string {
  return options.recall === false ? 'The original is kept in the log.' : `recall_open ${entryId} shows the original.`;
}

/** Stands where the middle of a text was; tells original, omitted and shown characters (seeds/wolffish.md). */
export function clipLabel(
  clip: { readonly entryId: string; readonly total: number; readonly head: number; readonly tail: number },
  options: RecallOptions = {},
): string {
  const omitted = clip.total - clip.head - clip.tail;
  const own = options.texts?.clip;
  if (own !== undefined) {
    const counts = { original: clip.total, omitted, head: clip.head, tail: clip.tail };
    return `\n${filled(own, counts)} ${wayBack(clip.entryId, options)}\n`;
  }
  return (
    `\n[Clipped: ${formatCount(clip.total)} characters, ${formatCount(omitted)} omitted, first ${formatCount(clip.head)} ` +
    `and last ${formatCount(clip.tail)} shown. ${wayBack(clip.entryId, options)}]\n`
  );
}

export function clippedItemsLabel(
  clip: { readonly entryId: string; readonly shown: number; readonly total: number },
  options: RecallOptions = {},
): string {
  return `\n[First ${formatCount(clip.shown)} of ${formatCount(clip.total)} items. ${wayBack(clip.entryId, options)}]\n`;
}

/** Stands inside clipped tool arguments, where a line of its own has no place. */
export function clippedArgumentLabel(
  clip: { readonly entryId: string; readonly omitted: number },
  options: RecallOptions = {},
): string {
  return ` [${formatCount(clip.omitted)} characters omitted. ${wayBack(clip.entryId, options)}] `;
}

export function clearedResultText(
  result: { readonly entryId: string; readonly toolName: string; readonly characters: number },
  options: RecallOptions = {},
): string {
  return (
    `[Old result of ${nameText(result.toolName)} cleared: ${formatCount(result.characters)} characters. ` +
    `${wayBack(result.entryId, options)}]`
  );
}

export function strippedMediaText(part: MediaPart, entryId: string, options: RecallOptions = {}): string {
  return `[${describeMedia(part)} omitted. ${wayBack(entryId, options)}]`;
}

/** A policy's own words, once for all media of a content; `undefined` when it has none. */
export function strippedContentText(entryId: string, options: RecallOptions): string | undefined {
  const own = options.texts?.strip;
  return own === undefined ? undefined : `${own} ${wayBack(entryId, options)}`;
}

function filled(template: string, counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts).reduce(
    (text, [name, count]) => text.replaceAll(`{{${name}}}`, formatCount(count)),
    template,
  );
}

/** One line that tells what a medium was, without its data. */
export function describeMedia(part: MediaPart): string {
  return part.type === 'image'
    ? `Image ${nameText(part.mediaType)}, ${part.width} × ${part.height} pixels,`
    : `File ${nameText(part.name)}, ${nameText(part.mediaType)}, ${part.pages} pages,`;
}
