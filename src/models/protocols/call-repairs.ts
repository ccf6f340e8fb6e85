import { fitImages, type ImageLimits } from './fit-images.ts';
import { giveWay } from './give-way.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import { atLeastAccepted, boundMedia, leaveOutMedia, mediaToLearn } from './media-bounds.ts';
import { ModelCallError, type ModelAnswer, type ModelRequest } from '../model-client.ts';

/** A request as it is sent, after what the vendor refused was taken out of it. */
export interface Attempt {
  readonly request: ModelRequest;
  /** Whether thinking of earlier answers is sent along. */
  readonly thinking: boolean;
  /** Which images and files are sent along. */
  readonly media: 'all' | 'newest' | 'none';
}

/** An answer shorter than this is no repair but a cut: then the view has to shrink. Tokens. */
const SMALLEST_USEFUL_OUTPUT = 4_096;

/**
 * Makes a call, and once more when the vendor refused it for something that can be left out at no
 * cost to the conversation: a maximum output that does not fit beside the input, thinking whose
 * proof no longer fits the messages before it, or images and files, the older ones first. A refusal
 * comes before the first token, so nothing is paid or shown twice. Each repair is made at most once.
 * What the vendor is known to refuse is mended before: images too large are scaled down, and beyond the bytes of a request
 * the oldest are left out (R23); what was learned of a server (`request.media`) counts as known. A request that is too large without any image is told as an overflow, since only its
 * text is left to shrink.
 */
export async function answerWithRepairs(
  request: ModelRequest,
  images: ImageLimits,
  call: (attempt: Attempt) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const view = boundMedia(await fitImages(request.view, images), request.media ?? {}, images.requestBytes);
  let attempt: Attempt = { request: { ...request, view }, thinking: true, media: 'all' };
  let learned: MediaLimits | undefined;
  for (;;) {
    // A request of a million tokens is made in three steps of up to 20 ms each: fitted, put together, turned into JSON.
    await giveWay();
    try {
      const answer = withTrueStopReason(await call(attempt), attempt.request.maximumOutput);
      return learned === undefined
        ? answer
        : { ...answer, learnedMedia: atLeastAccepted(learned, attempt.request.view) };
    } catch (error) {
      const repaired = error instanceof ModelCallError ? repair(attempt, error) : undefined;
      if (repaired === undefined) throw tooLargeWithoutMedia(error) ?? error;
      if (error instanceof ModelCallError) learned = mediaToLearn(error.verdict, attempt.request.view) ?? learned;
      attempt = repaired;
    }
  }
}

/** llama.cpp's Responses API calls an answer complete that was cut: it is as long as it was allowed to be, to the token. */
function withTrueStopReason(answer: ModelAnswer, maximumOutput: number): ModelAnswer {
  if (answer.stopReason !== 'end' || answer.usage?.output !== maximumOutput) return answer;
  return { ...answer, stopReason: 'maximum_output' };
}

function repair(attempt: Attempt, error: ModelCallError): Attempt | undefined {
  const { verdict } = error;
  if (verdict.kind === 'retryable') return undefined;
  if (verdict.repair === 'drop_thinking') return attempt.thinking ? { ...attempt, thinking: false } : undefined;
  if (verdict.repair === 'drop_media') return withLessMedia(attempt, verdict.cause === 'media_refused');
  if (verdict.repair !== 'lower_max_tokens') return undefined;
  const { request } = attempt;
  const fitting = verdict.maximumOutput;
  const useful = Math.min(SMALLEST_USEFUL_OUTPUT, request.maximumOutput / 2);
  if (fitting === undefined || fitting < useful || fitting >= request.maximumOutput) return undefined;
  return { ...attempt, request: { ...request, maximumOutput: Math.floor(fitting) } };
}

function withLessMedia(attempt: Attempt, refused: boolean): Attempt | undefined {
  const { request, media } = attempt;
  if (media === 'none') return undefined;
  const older = media === 'all' && !refused ? leaveOutMedia(request.view, true) : undefined;
  if (older !== undefined) return { ...attempt, media: 'newest', request: { ...request, view: older } };
  const none = leaveOutMedia(request.view, false);
  return none === undefined ? undefined : { ...attempt, media: 'none', request: { ...request, view: none } };
}

function tooLargeWithoutMedia(error: unknown): ModelCallError | undefined {
  if (!(error instanceof ModelCallError)) return undefined;
  const { verdict, status, vendorMessage, message } = error;
  if (verdict.kind !== 'permanent' || verdict.repair !== 'drop_media' || verdict.cause === 'media_refused')
    return undefined;
  const evidence = `${verdict.evidence}, with no image or file left to leave out`;
  return new ModelCallError(message, {
    verdict: { kind: 'overflow', cause: 'overflow', repair: 'compact', evidence },
    status,
    vendorMessage,
    cause: error,
  });
}
