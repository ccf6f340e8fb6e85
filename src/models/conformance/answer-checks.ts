import { textOf } from '../../context/log/content.ts';
import { ModelCallError } from '../model-client.ts';
import type { Verdict } from './capability.ts';
import { ask, failureWords, type Probe, type ProbeRequest } from './probe.ts';

/** The first request: short, and answered with enough words to come in several pieces. */
export const FIRST_REQUEST: ProbeRequest = {
  messages: [ask('Count from 1 to 30 in digits, separated by spaces.')],
};

export async function checkStreaming(probe: Probe): Promise<Verdict> {
  const answer = await probe.ask(FIRST_REQUEST);
  const pieces = answer.deltas.length;
  if (pieces === 0 || answer.content.length === 0)
    return { status: 'fails', detail: 'the call succeeded, but the answer is empty' };
  const first = `first after ${Math.round(answer.firstDeltaMilliseconds)} ms`;
  if (pieces === 1) return { status: 'limited', detail: `the whole answer came in one piece (${first})` };
  return { status: 'works', detail: `${pieces} pieces, ${first}` };
}

/** Looks at the answers so far. Without usage Holdfast has only its own estimate, and no cost. */
export function checkUsage(probe: Probe): Verdict {
  const [answer] = probe.answers;
  if (answer === undefined) return { status: 'not_checked', detail: 'there is no answer to look at' };
  const { usage } = answer;
  if (usage === undefined) return { status: 'fails', detail: 'no usage in the stream: fill and cost would be guesses' };
  if (usage.input <= 0 || usage.output <= 0)
    return { status: 'fails', detail: `reports ${usage.input} tokens of input and ${usage.output} of output` };
  return { status: 'works', detail: `${usage.input} tokens of input, ${usage.output} of output` };
}

/** The smallest maximum that all vendors accept is 16 (OpenAI Responses). */
const CUT_AFTER = 24;

/** An answer that is cut must say so, or half an answer is taken for a whole one. */
export async function checkCutAnswer(probe: Probe): Promise<Verdict> {
  const { stopReason, usage } = await probe.ask({
    messages: [ask('Write 500 words about rivers.')],
    maximumOutput: CUT_AFTER,
  });
  if (stopReason === 'maximum_output') return { status: 'works', detail: `cut at ${CUT_AFTER} tokens, and says so` };
  const written = usage === undefined ? '' : ` after ${usage.output} tokens`;
  return {
    status: 'limited',
    detail: `a limit of ${CUT_AFTER} tokens of output ended as "${stopReason}"${written}`,
  };
}

/** A red square of 224 × 224 pixels. */
const RED_SQUARE =
  'iVBORw0KGgoAAAANSUhEUgAAAOAAAADgAQMAAAAg4/iiAAAAA1BMVEX/AAAZ4gk3AAAAHUlEQVR42u3BMQEAAADCoPVPbQZ/oAAAAAAAAHgMGWAAAQrTbh4AAAAASUVORK5CYII=';
const PICTURE_SIDE = 224;
/** An image of 224 × 224 pixels costs 64 tokens and more; a line that stands for a lost one costs less. */
const SMALLEST_IMAGE_TOKENS = 30;
const QUESTION = 'Which colour fills this picture? Answer with one word.';

export async function checkImages(probe: Probe): Promise<Verdict> {
  const image = {
    type: 'image' as const,
    mediaType: 'image/png',
    data: RED_SQUARE,
    width: PICTURE_SIDE,
    height: PICTURE_SIDE,
  };
  try {
    const answer = await probe.ask({ messages: [ask(image, QUESTION)] });
    if (/\bred\b/i.test(textOf(answer.content))) return { status: 'works', detail: 'the answer names its colour' };
    const without = await probe.ask({ messages: [ask(QUESTION)] });
    const counted = (answer.usage?.input ?? 0) - (without.usage?.input ?? 0);
    if (counted >= SMALLEST_IMAGE_TOKENS) return { status: 'works', detail: `read as ${counted} tokens` };
    return { status: 'missing', detail: 'the call succeeded, but the image was not read' };
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.verdict.kind === 'retryable') throw error;
    return { status: 'missing', detail: `refused: ${failureWords(error)}` };
  }
}

/** Words that every tokenizer knows; about one token each. */
export const FILLER = ['the', 'turn', 'goes', 'on', 'and', 'each', 'step', 'adds', 'a', 'line', 'to', 'its', 'log'];

export function fillerWords(count: number): string {
  return Array.from({ length: count }, (_, index) => FILLER[index % FILLER.length]).join(' ');
}

/** Asks the same twice: the second answer should be read from the cache. `words` of prefix, about a token each. */
export async function checkCacheUsage(probe: Probe, words: number): Promise<Verdict> {
  // New with every run: an earlier run must not have filled the cache.
  const request: ProbeRequest = {
    system: `Note ${Date.now()}. Ignore these words: ${fillerWords(words)}`,
    messages: [ask('Say yes.')],
  };
  const first = await probe.ask(request);
  const second = await probe.ask(request);
  const input = second.usage?.input ?? 0;
  const read = second.usage?.cacheRead ?? 0;
  if (read > 0) return { status: 'works', detail: `${read} of ${input} tokens read from the cache` };
  const written = first.usage?.cacheWrite ?? 0;
  const wrote = written > 0 ? `, though ${written} were written to it` : '';
  return {
    status: 'limited',
    detail: `no cached tokens reported for ${input} tokens sent twice${wrote}: every step is counted at the full price`,
  };
}
