import { parseNestedJson } from '../../context/log/nested-json.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import type { View } from '../../context/view/view.ts';
import { ModelCallError } from '../model-client.ts';
import type { ModelAnswer, ModelRequest } from '../model-client.ts';
import { fitImages } from './fit-images.ts';
import type { ImageLimits } from './fit-images.ts';
import { giveWay } from './give-way.ts';
import { isRecord } from './json.ts';
import {
  atLeastAccepted,
  boundMedia,
  isAskedTooLarge,
  leaveOutMedia,
  mediaBytes,
  mediaToLearn,
} from './media-bounds.ts';
import type { KeptMedia } from './media-bounds.ts';

/** A request as it is sent, after what the vendor refused was taken out of it. */
export interface Attempt {
  readonly request: ModelRequest;
  /** Whether thinking of earlier answers is sent along. */
  readonly thinking: boolean;
  /** Which images and files are sent along; `smaller`: those of the user's newest message, scaled down. */
  readonly media: 'all' | 'smaller' | KeptMedia;
}

/** Part of the largest edge and data that a vendor takes, to which the images of the user's newest message are scaled once. */
const SMALLER = 0.5;

/** An answer shorter than this is no repair but a cut: then the view has to shrink. Tokens. */
const SMALLEST_USEFUL_OUTPUT = 4_096;

/**
 * Makes a call, and once more when the vendor refused it for something that can be left out at no
 * cost to the conversation: a maximum output that does not fit beside the input, thinking whose
 * proof no longer fits the messages before it, or images and files, the older ones first. A refusal
 * comes before the first token, so nothing is paid or shown twice. Each repair is made at most once.
 * What the vendor is known to refuse is mended before: images too large are scaled down, and beyond the bytes of a request
 * the oldest are left out (R23); what was learned of a server (`request.media`) counts as known. The images of the user's newest
 * message are scaled down before they are given up, and left out only where a server takes none. A request that is too large for its
 * text is told as an overflow.
 */
export async function answerWithRepairs(
  request: ModelRequest,
  images: ImageLimits,
  call: (attempt: Attempt) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const media = request.media ?? {};
  const longestData = Math.min(images.longestData, media.bytes ?? Infinity);
  const view = boundMedia(await fitImages(request.view, { ...images, longestData }), media, images.requestBytes);
  let attempt: Attempt = { request: { ...request, view }, thinking: true, media: 'all' };
  let learned: MediaLimits | undefined;
  for (;;) {
    // A request of a million tokens is made in three steps of up to 20 ms each: fitted, put together, turned into JSON.
    await giveWay();
    try {
      const answer = withTrueStopReason(await call(attempt), attempt.request.maximumOutput);
      return learned === undefined ? answer : { ...answer, learnedMedia: acceptedMedia(attempt, learned) };
    } catch (error) {
      const repaired = error instanceof ModelCallError ? await repair(attempt, error, images) : undefined;
      if (repaired === undefined) throw tooLargeForText(error, attempt.request.view) ?? error;
      if (error instanceof ModelCallError) learned = mediaToLearn(error.verdict, attempt.request.view) ?? learned;
      attempt = repaired;
    }
  }
}

/** What was accepted after images were scaled down is the size to which they are scaled from then on. */
function acceptedMedia({ media, request }: Attempt, learned: MediaLimits): MediaLimits {
  return media === 'smaller' ? { ...learned, bytes: mediaBytes(request.view) } : atLeastAccepted(learned, request.view);
}

/** llama.cpp's Responses API calls an answer complete that was cut: it is as long as it was allowed to be, to the token. */
function withTrueStopReason(answer: ModelAnswer, maximumOutput: number): ModelAnswer {
  if (answer.stopReason !== 'end' || answer.usage?.output !== maximumOutput) return answer;
  return { ...answer, stopReason: 'maximum_output' };
}

async function repair(attempt: Attempt, error: ModelCallError, images: ImageLimits): Promise<Attempt | undefined> {
  const { verdict } = error;
  if (verdict.kind === 'retryable') return undefined;
  if (verdict.repair === 'drop_thinking') return attempt.thinking ? { ...attempt, thinking: false } : undefined;
  if (verdict.repair === 'drop_media') {
    return verdict.cause === 'media_refused' ? withKept(attempt, 'none') : withLessMedia(attempt, images);
  }
  if (verdict.repair !== 'lower_max_tokens') return undefined;
  const { request } = attempt;
  const fitting = verdict.maximumOutput;
  const useful = Math.min(SMALLEST_USEFUL_OUTPUT, request.maximumOutput / 2);
  if (fitting === undefined || fitting < useful || fitting >= request.maximumOutput) return undefined;
  return { ...attempt, request: { ...request, maximumOutput: Math.floor(fitting) } };
}

/** Leaves out more than the attempt did; each step at most once. */
async function withLessMedia(attempt: Attempt, images: ImageLimits): Promise<Attempt | undefined> {
  switch (attempt.media) {
    case 'all':
      return withKept(attempt, 'newest') ?? withLessMedia({ ...attempt, media: 'newest' }, images);
    case 'newest':
      return withKept(attempt, 'asked') ?? withLessMedia({ ...attempt, media: 'asked' }, images);
    case 'asked': {
      const { longestEdge, longestData } = images;
      const smaller = { ...images, longestEdge: longestEdge * SMALLER, longestData: longestData * SMALLER };
      const view = await fitImages(attempt.request.view, smaller);
      return mediaBytes(view) < mediaBytes(attempt.request.view) ? withView(attempt, 'smaller', view) : undefined;
    }
    case 'smaller':
    case 'none':
      return undefined;
  }
}

function withKept(attempt: Attempt, kept: KeptMedia): Attempt | undefined {
  const view = leaveOutMedia(attempt.request.view, kept);
  return view === undefined ? undefined : withView(attempt, kept, view);
}

function withView(attempt: Attempt, media: Attempt['media'], view: View): Attempt {
  return { ...attempt, media, request: { ...attempt.request, view } };
}

function tooLargeForText(error: unknown, view: View): ModelCallError | undefined {
  if (!(error instanceof ModelCallError)) return undefined;
  const { verdict } = error;
  if (verdict.kind !== 'permanent' || verdict.repair !== 'drop_media' || verdict.cause === 'media_refused')
    return undefined;
  if (isAskedTooLarge(view)) return undefined;
  const evidence = `${verdict.evidence}, with no image or file left to leave out`;
  return error.meaning({ kind: 'overflow', cause: 'overflow', repair: 'compact', evidence });
}

/** Replaces what vendors refuse or cut a request at; one character for one, so that offsets stay. */
const REPLACEMENT = '\uFFFD';

/** NUL, and surrogates without their other half: JSON can carry them, UTF-8 and most servers cannot. */
// oxlint-disable-next-line no-control-regex -- NUL is what is looked for
const UNSENDABLE = /\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The same characters as escapes in what `JSON.stringify` writes, which escapes no others of them. */
const ESCAPED_UNSENDABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][\da-f]{2})/g;

/** The text with NUL and lone surrogates replaced. The stored original keeps them. */
export function repairText(text: string): string {
  return text.replace(UNSENDABLE, REPLACEMENT);
}

/**
 * Tool arguments as every server accepts them: the text of a JSON object. Valid text comes back
 * unchanged, so that prompt caches stay warm. Text that is no JSON object (cut off, malformed, a
 * bare string) or nested too deep is wrapped, because Anthropic wants an object and chat templates iterate over one.
 */
export function sendableArguments(text: string): { readonly text: string; readonly value: Record<string, unknown> } {
  const trimmed = text.trim();
  if (trimmed === '') return { text: '{}', value: {} };
  const parsed = parseObject(trimmed);
  if (parsed === undefined) {
    const value = { invalid_arguments: repairText(text) };
    return { text: JSON.stringify(value), value };
  }
  const written = trimmed.includes('\\u') ? JSON.stringify(parsed) : '';
  const sendable = written.replaceAll(ESCAPED_UNSENDABLE, `$1${REPLACEMENT}`);
  if (sendable === written) return { text: repairText(text), value: parsed };
  return { text: sendable, value: parseObject(sendable) ?? {} };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseNestedJson(repairText(text));
  return isRecord(value) ? value : undefined;
}
