import { z } from 'zod';
import type { ContentPart } from '../../context/log/content.ts';
import { systemErrorCode } from '../errors.ts';
import { wholeCharacters } from '../files/text.ts';
import type { CollectedOutput, CollectingSink } from '../process/output-sink.ts';
import type { ToolResult } from '../tool.ts';
import { maskText } from './secret-mask.ts';

/** How a call ended. Only `aborted` (by the context's signal) says that somebody else decided its end. */
export type ToolCallEnding =
  | 'succeeded'
  | 'tool_failed'
  /** The tool says that nobody knows whether it acted. */
  | 'outcome_unknown'
  | 'unknown_tool'
  | 'invalid_arguments'
  | 'invalid_result'
  | 'timed_out'
  | 'aborted';

/** The result of a call, ready to be stored as an entry. */
export interface ToolCallOutcome extends ToolResult {
  readonly ending: ToolCallEnding;
  /** What the model sees, within the result limit. */
  readonly content: readonly ContentPart[];
  readonly isError: boolean;
  /** Present when `content` shows less than the tool produced: what to keep in content pieces. */
  readonly original: CollectedOutput | null;
  /** Must be called once the original is stored. */
  dispose(): Promise<void>;
  /**
   * Present when the tool did not react to its end: what it returns after all, `null` when it fails. Without what it writes: its output
   * was closed with the call.
   */
  readonly later?: Promise<Omit<ToolCallOutcome, 'later'> | null>;
}

/** How a call ended, and what its tool returned: anything, since tools are written by users too. */
export interface ToolCallEnd {
  readonly ending: ToolCallEnding;
  readonly result: ToolResult;
}

/** The call whose result is composed. */
interface ComposedCall {
  readonly name: string;
  readonly entryId: string;
  readonly context: { readonly resultLimit: number };
  readonly secrets?: readonly string[];
}

/** Characters of a picture or file in base64: no provider takes a request as large. */
const LARGEST_MEDIA = 50_000_000;
/** Characters of a plan, which stays in every request: the longest that `update_plan` makes fits. */
const LARGEST_PLAN = 60_000;
/** Characters of a rule that a tool pins. */
const LARGEST_PIN = 4_000;

// The length first: the check of 200 MB of base64 alone blocks the thread for seconds.
const mediaData = z.string().max(LARGEST_MEDIA).pipe(z.base64());

const returnedResult = z.object({
  content: z.union([
    z.string(),
    z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('text'), text: z.string() }),
        z.object({
          type: z.literal('image'),
          mediaType: z.string(),
          data: mediaData,
          width: z.number().positive(),
          height: z.number().positive(),
        }),
        z.object({
          type: z.literal('file'),
          mediaType: z.string(),
          name: z.string(),
          data: mediaData,
          pages: z.number().nonnegative(),
        }),
      ]),
    ),
  ]),
  isError: z.boolean().optional(),
  plan: z.string().max(LARGEST_PLAN).optional(),
  pin: z.string().min(1).max(LARGEST_PIN).optional(),
  comparedBy: z.string().optional(),
});

/**
 * Makes the stored result of what a tool wrote and returned: both in one text, in this order, clipped to the
 * limit with the way to open the rest; images and files after it.
 */
export async function composeResult(
  call: ComposedCall,
  { ending, result: given }: ToolCallEnd,
  sink: CollectingSink,
): Promise<Omit<ToolCallOutcome, 'later'>> {
  const { secrets = [] } = call;
  const returned = returnedResult.safeParse(given);
  const result = returned.success ? returned.data : invalidResult(call, returned.error);
  const { content, plan, pin } = result;
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const media = parts.filter((part) => part.type !== 'text');
  const text = texts.join('\n');
  const written = sink.digest();
  const shown = await showText(text, media.length > 0, call, sink);
  const isError = result.isError === true || shown.failed;
  const failed = returned.success ? 'tool_failed' : 'invalid_result';
  // Of a result that is shown in part, the part that is not shown counts too.
  const isComparedByContent = shown.failed || (result.comparedBy === undefined && shown.original === null);
  return {
    ending: ending === 'succeeded' && isError ? failed : ending,
    content: [...(shown.text === '' ? [] : [{ type: 'text' as const, text: shown.text }]), ...media],
    isError,
    ...(plan === undefined ? {} : { plan: maskText(plan, secrets) }),
    ...(pin === undefined ? {} : { pin: maskText(pin, secrets) }),
    ...(isComparedByContent ? {} : { comparedBy: JSON.stringify([written, result.comparedBy ?? text, media]) }),
    original: shown.original,
    dispose: () => sink.dispose(),
  };
}

interface ShownText {
  readonly text: string;
  readonly original: CollectedOutput | null;
  /** The output could not be kept. */
  readonly failed: boolean;
}

async function showText(
  text: string,
  hasMedia: boolean,
  { entryId, context: { resultLimit }, secrets = [] }: ComposedCall,
  sink: CollectingSink,
): Promise<ShownText> {
  if (sink.bytes === 0 && text.length <= resultLimit) {
    await sink.finish();
    const masked = maskText(text, secrets);
    // Providers refuse empty text, and a model takes an empty result for a failure of the wire.
    return { text: masked === '' && !hasMedia ? '[no output]' : masked, original: null, failed: false };
  }
  try {
    if (text !== '') await sink.write(sink.bytes === 0 ? text : `\n${text}`);
    const output = await sink.finish();
    const shown = shownResult({ ...output, limit: resultLimit, entryId });
    const complete = output.totalCharacters <= resultLimit && (await isWhole(output, shown));
    return { text: shown, original: complete ? null : output, failed: false };
  } catch (error) {
    const reason = systemErrorCode(error) ?? 'unknown error';
    const message = `The tool ran, but its output could not be kept on the worker's disk (${reason}).`;
    return { text: message, original: null, failed: true };
  }
}

/** Whether the shown text is the original byte for byte: invalid UTF-8 is not, so its bytes are kept beside it. */
async function isWhole(output: CollectedOutput, shown: string): Promise<boolean> {
  const pieces: Uint8Array[] = [];
  for await (const piece of output.pieces()) pieces.push(piece);
  return Buffer.concat(pieces).equals(Buffer.from(shown));
}

function invalidResult({ name }: ComposedCall, error: z.ZodError): ToolResult & { readonly content: string } {
  const [issue] = error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'what it returned' : issue.path.map(String).join('.');
  const message =
    `${name} ran, but did not return a tool result ({ content: text or a list of text, image and file ` +
    `parts }): ${place}: ${issue?.message ?? 'invalid'}. This is an error in the tool, not in the call.`;
  return { content: message, isError: true };
}

/** What is known of a result without loading it: `head` and `tail` are at least `limit` characters or all. */
interface ResultOutline extends Pick<CollectedOutput, 'head' | 'tail' | 'totalCharacters' | 'missingBytes'> {
  /** Characters that may be shown. */
  readonly limit: number;
  /** Entry under which the whole result is stored. */
  readonly entryId: string;
}

/** Of the characters shown, the part taken from the start; errors and totals stand at the end, so the end gets much too. */
const HEAD_FRACTION = 0.6;

/**
 * The text of a result as the model sees it: whole if it fits, else its beginning and its end with the way to
 * open the rest between them. Never longer than the limit, cut at line ends where one is near, and never inside
 * a surrogate pair. Pure.
 */
export function shownResult(outline: ResultOutline): string {
  const { head, tail, totalCharacters, limit } = outline;
  if (totalCharacters <= limit) return head;
  const room = Math.max(0, limit - notice(outline, totalCharacters, totalCharacters).length);
  const start = cutEnd(head, Math.floor(room * HEAD_FRACTION));
  const end = cutStart(tail, Math.min(room - start.length, totalCharacters - start.length));
  return `${start}${notice(outline, start.length, totalCharacters - end.length)}${end}`;
}

function notice(outline: ResultOutline, from: number, to: number): string {
  const { missingBytes: missing } = outline;
  const open = `recall_open {"entry_id": "${outline.entryId}", "offset": ${from}}`;
  const lost = missing > 0 ? `; the last ${missing} bytes were too much to store` : '';
  const characters = `characters ${from} to ${to} of ${outline.totalCharacters} are not shown`;
  return `\n[… ${characters}; open them with ${open}${lost} …]\n`;
}

/** How far from the limit a line end may lie to be preferred. */
const LINE_FRACTION = 0.2;

function cutEnd(text: string, length: number): string {
  const cut = text.slice(0, length);
  const line = cut.lastIndexOf('\n') + 1;
  if (line > length * (1 - LINE_FRACTION)) return cut.slice(0, line);
  return wholeCharacters(cut);
}

function cutStart(text: string, length: number): string {
  if (length <= 0) return '';
  const cut = text.slice(-length);
  const line = cut.indexOf('\n') + 1;
  if (line > 0 && line < length * LINE_FRACTION) return cut.slice(line);
  return wholeCharacters(cut);
}

/**
 * Characters of one tool result that are shown to a model with the given window (tokens).
 *
 * An eighth of the window at 3 characters a token: code and JSON measure about 3, prose 4 (facts of the
 * tokenizers), so an ordinary result takes an eighth of the window or less, and the parallel calls of one
 * answer rarely fill it at once. At least 2,000 characters, below which a page of code is no use; at most
 * 100,000 (25,000 to 33,000 tokens), because models find little in more, whatever their window.
 */
export function resultLimitFor(windowTokens: number): number {
  return Math.round(Math.min(Math.max((windowTokens / 8) * 3, 2_000), 100_000));
}
