import { z } from 'zod';
import type { ContentPart } from '../../context/log/content.ts';
import { systemErrorCode } from '../errors.ts';
import type { CollectedOutput, CollectingSink } from '../process/output-sink.ts';
import { maskText } from './secret-mask.ts';
import { shownResult } from './shown-result.ts';
import type { ToolResult } from '../tool.ts';

export interface ResultToCompose {
  /** What the tool returned; may be anything, since tools are written by users too. */
  readonly result: ToolResult;
  readonly sink: CollectingSink;
  readonly toolName: string;
  readonly entryId: string;
  /** Characters. */
  readonly resultLimit: number;
  readonly secrets: readonly string[];
}

export interface ComposedResult {
  /** `false`: what the tool returned is no tool result. */
  readonly valid: boolean;
  readonly content: readonly ContentPart[];
  readonly isError: boolean;
  readonly plan?: string;
  readonly pin?: string;
  /** What the result is compared by, when that is not `content`. */
  readonly comparedBy?: string;
  readonly original: CollectedOutput | null;
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
export async function composeResult(input: ResultToCompose): Promise<ComposedResult> {
  const returned = returnedResult.safeParse(input.result);
  const result = returned.success ? returned.data : invalidResult(input, returned.error);
  const { content, isError = false, plan, pin } = result;
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const media = parts.filter((part) => part.type !== 'text');
  const text = texts.join('\n');
  const written = input.sink.digest();
  const shown = await showText(text, media.length > 0, input);
  // Of a result that is shown in part, the part that is not shown counts too.
  const isComparedByContent = shown.failed || (result.comparedBy === undefined && shown.original === null);
  return {
    valid: returned.success,
    content: [...(shown.text === '' ? [] : [{ type: 'text' as const, text: shown.text }]), ...media],
    isError: isError || shown.failed,
    ...(plan === undefined ? {} : { plan: maskText(plan, input.secrets) }),
    ...(pin === undefined ? {} : { pin: maskText(pin, input.secrets) }),
    ...(isComparedByContent ? {} : { comparedBy: JSON.stringify([written, result.comparedBy ?? text, media]) }),
    original: shown.original,
  };
}

interface ShownText {
  readonly text: string;
  readonly original: CollectedOutput | null;
  /** The output could not be kept. */
  readonly failed: boolean;
}

async function showText(text: string, hasMedia: boolean, input: ResultToCompose): Promise<ShownText> {
  const { sink, resultLimit } = input;
  if (sink.bytes === 0 && text.length <= resultLimit) {
    await sink.finish();
    const masked = maskText(text, input.secrets);
    // Providers refuse empty text, and a model takes an empty result for a failure of the wire.
    return { text: masked === '' && !hasMedia ? '[no output]' : masked, original: null, failed: false };
  }
  try {
    if (text !== '') await sink.write(sink.bytes === 0 ? text : `\n${text}`);
    const output = await sink.finish();
    const shown = shownResult({ ...output, limit: resultLimit, entryId: input.entryId });
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

function invalidResult(input: ResultToCompose, error: z.ZodError): ToolResult & { readonly content: string } {
  const [issue] = error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'what it returned' : issue.path.map(String).join('.');
  const message =
    `${input.toolName} ran, but did not return a tool result ({ content: text or a list of text, image and file ` +
    `parts }): ${place}: ${issue?.message ?? 'invalid'}. This is an error in the tool, not in the call.`;
  return { content: message, isError: true };
}
