import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { ImagePart } from '../../src/context/log/content.ts';
import { answerWithRepairs, type Attempt } from '../../src/models/protocols/call-repairs.ts';
import { OPENAI_IMAGES } from '../../src/models/protocols/fit-images.ts';
import { ModelCallError, type ErrorVerdict, type ModelAnswer } from '../../src/models/model-client.ts';
import type { View } from '../../src/context/view/view.ts';
import { assistant, call as toolCall, results, user, viewOf } from '../support/model-builders.ts';

const IMAGE = { type: 'image', mediaType: 'image/png', data: 'aGVyb24=', width: 800, height: 600 } as const;
const ANSWER: ModelAnswer = { content: [{ type: 'text', text: 'done' }], stopReason: 'end' };
const TOO_LARGE: ErrorVerdict = {
  kind: 'permanent',
  cause: 'payload_too_large',
  repair: 'drop_media',
  mediaCap: { unit: 'bytes' },
  evidence: 'HTTP 413',
};

const view = (...images: readonly number[]): View => ({
  system: '',
  tools: [],
  messages: [1, 2, 3].map((number) => ({
    role: 'user',
    origin: 'user',
    content: [{ type: 'text', text: `message ${number}` }, ...(images.includes(number) ? [IMAGE] : [])],
  })),
});

/** Refuses until the request holds at most so many images; notes what was sent. */
function server(accepted: number, verdict: ErrorVerdict = TOO_LARGE) {
  const sent: Attempt[] = [];
  const imagesOf = ({ request }: Attempt): number => JSON.stringify(request.view).split('"type":"image"').length - 1;
  const call = async (attempt: Attempt): Promise<ModelAnswer> => {
    sent.push(attempt);
    if (imagesOf(attempt) <= accepted) return ANSWER;
    throw new ModelCallError('refused', { verdict, status: 413, vendorMessage: '' });
  };
  return { call, images: () => sent.map(imagesOf) };
}

async function photograph(edge: number): Promise<ImagePart> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const drawn = sharp({ create: { width: edge, height: edge, channels: 3, background: 'white', noise } });
  const data = (await drawn.jpeg().toBuffer()).toString('base64');
  return { type: 'image', mediaType: 'image/jpeg', data, width: edge, height: edge };
}

const request = (given: View) => ({ model: 'm', view: given, maximumOutput: 8_000, cacheKey: 'c' });

test('R23 a request that the vendor refuses with 413 is sent again without its older images, the newest kept', async () => {
  const { call, images } = server(1);
  expect(await answerWithRepairs(request(view(1, 2)), OPENAI_IMAGES, call)).toBe(ANSWER);
  expect(images()).toEqual([2, 1]);
});

test('R23 what tools show is left out too when that was not enough', async () => {
  const { call, images } = server(0);
  const shown = viewOf([user('look', IMAGE), assistant(toolCall('c')), results(['c', IMAGE]), user('and now?')]);
  expect(await answerWithRepairs(request(shown), OPENAI_IMAGES, call)).toBe(ANSWER);
  expect(images()).toEqual([2, 1, 0]);
});

test("R23, D2 the images of the user's newest message are scaled down once, and so in later calls", async () => {
  const [large, sent] = [await photograph(1_600), [] as number[]];
  const call = async ({ request: { view: given } }: Attempt): Promise<ModelAnswer> => {
    const size = JSON.stringify(given).length;
    sent.push(size);
    if (size < large.data.length / 2) return ANSWER;
    throw new ModelCallError('refused', { verdict: TOO_LARGE, status: 413, vendorMessage: '' });
  };
  const asked = viewOf([user('what is this?', large)]);
  const { learnedMedia = {} } = await answerWithRepairs(request(asked), OPENAI_IMAGES, call);
  await answerWithRepairs({ ...request(asked), media: learnedMedia }, OPENAI_IMAGES, call);
  expect(sent).toHaveLength(3);
  expect(sent[2]).toBe(sent[1]);
});

test("R23 too large for the images of the user's newest message, also scaled down, they are not left out", async () => {
  const { call, images } = server(0);
  const shown = viewOf([user('before', IMAGE), user('what is this?', await photograph(1_600))]);
  await expect(answerWithRepairs(request(shown), OPENAI_IMAGES, call)).rejects.toMatchObject({ verdict: TOO_LARGE });
  expect(images()).toEqual([2, 1, 1]);
});

test('R23 too large for its text, a request is an overflow', async () => {
  const { call, images } = server(-1);
  await expect(answerWithRepairs(request(view(2)), OPENAI_IMAGES, call)).rejects.toMatchObject({
    verdict: { kind: 'overflow', repair: 'compact' },
  });
  expect(images()).toEqual([1, 0]);
});

test('another refusal leaves the images where they are', async () => {
  const { call, images } = server(0, {
    kind: 'permanent',
    cause: 'invalid_request',
    repair: 'stop',
    evidence: 'HTTP 400',
  });
  await expect(answerWithRepairs(request(view(1)), OPENAI_IMAGES, call)).rejects.toMatchObject({
    verdict: { repair: 'stop' },
  });
  expect(images()).toEqual([1]);
});

test('a model that takes no media gets the request without any, once, and a refusal of that is no overflow', async () => {
  const refused: ErrorVerdict = { kind: 'permanent', cause: 'media_refused', repair: 'drop_media', evidence: 'words' };
  const { call, images } = server(0, refused);
  const learnedMedia = { parts: 0 };
  expect(await answerWithRepairs(request(view(1, 3)), OPENAI_IMAGES, call)).toEqual({ ...ANSWER, learnedMedia });
  expect(images()).toEqual([2, 0]);
  const never = server(-1, refused);
  await expect(answerWithRepairs(request(view()), OPENAI_IMAGES, never.call)).rejects.toMatchObject({
    verdict: refused,
  });
});

test('an answer as long as it was allowed to be is a cut one, whatever the server calls it', async () => {
  const usage = { input: 9, cacheRead: 0, cacheWrite: 0, output: 8_000 };
  const cut = await answerWithRepairs(request(view()), OPENAI_IMAGES, async () => ({ ...ANSWER, usage }));
  expect(cut.stopReason).toBe('maximum_output');
  const whole = await answerWithRepairs(request(view()), OPENAI_IMAGES, async () => ({
    ...ANSWER,
    usage: { ...usage, output: 7_999 },
  }));
  expect(whole.stopReason).toBe('end');
});
