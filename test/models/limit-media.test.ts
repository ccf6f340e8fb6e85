import { expect, test, describe } from 'vitest';
import type { ImagePart } from '../../src/context/log/content.ts';
import { answerWithRepairs } from '../../src/models/protocols/call-repairs.ts';
import { classifyError } from '../../src/models/errors/classify.ts';
import { OPENAI_IMAGES } from '../../src/models/protocols/fit-images.ts';
import type { MediaLimits } from '../../src/context/plan/plan.ts';
import { boundMedia, mediaToLearn } from '../../src/models/protocols/media-bounds.ts';
import { ModelCallError } from '../../src/models/model-client.ts';
import type { ErrorVerdict, ModelAnswer } from '../../src/models/model-client.ts';
import type { View } from '../../src/context/view/view.ts';
import { user, viewOf } from '../support/model-builders.ts';

const limitMedia = (view: View, caps: MediaLimits): View => boundMedia(view, caps, Infinity);
const BYTES = 20_000;

const picture = (): ImagePart => ({
  type: 'image',
  mediaType: 'image/png',
  data: 'A'.repeat(BYTES),
  width: 8,
  height: 8,
});

const showing = (count: number): View =>
  viewOf(Array.from({ length: count }, (_, number) => user(`${number}`, picture())));

function shown(view: View): string[] {
  return view.messages.flatMap(({ role, ...one }) =>
    role === 'user' && 'content' in one && one.content.some(({ type }) => type === 'image')
      ? one.content.flatMap((part) => (part.type === 'text' ? part.text : []))
      : [],
  );
}

const verdictOf = (status: number, message: string): ErrorVerdict =>
  classifyError({ status, headers: {}, body: { error: { message } }, streamed: false }, 0);

test("R23 beyond what a server is known to take the oldest media are left out, those of the user's newest message only where it takes none", () => {
  const few = showing(4);
  expect(limitMedia(few, { parts: 4, bytes: 4 * BYTES })).toBe(few);
  expect(shown(limitMedia(showing(6), { parts: 5 }))).toEqual(['1', '2', '3', '4', '5']);
  expect(shown(limitMedia(showing(20), { bytes: 8 * BYTES }))).toHaveLength(8);
  expect(shown(limitMedia(showing(3), { parts: 1 }))).toEqual(['2']);
  expect(shown(limitMedia(showing(3), { parts: 0 }))).toEqual([]);
  expect(shown(limitMedia(showing(3), { bytes: BYTES - 1 }))).toEqual(['2']);
  expect(JSON.stringify(limitMedia(few, { parts: 1 }))).toContain('image of 8 × 8 pixels left out');
});

test('the same media are left out for many calls, so that the prompt stays cached', () => {
  const first = Array.from({ length: 20 }, (_, more) => shown(limitMedia(showing(11 + more), { parts: 10 }))[0]);
  expect(new Set(first).size).toBeLessThanOrEqual(11);
  expect(
    Math.min(...Array.from({ length: 20 }, (_, more) => shown(limitMedia(showing(11 + more), { parts: 10 })).length)),
  ).toBeGreaterThan(7);
});

test.each([
  [400, 'Too many images provided. This model supports up to 5 images', { parts: 5 }],
  [400, 'Number of images (8) is over what this endpoint takes (4)', { parts: 4 }],
  [400, 'too many images in the request', { parts: 4 }],
  [400, 'This model does not support image content.', { parts: 0 }],
  [413, 'Request Entity Too Large', { bytes: 4 * BYTES }],
  [400, 'Request payload size exceeds the limit: 20971520 bytes.', { bytes: 4 * BYTES }],
  [400, 'image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes', undefined],
  [400, 'At least one of the image dimensions exceed max allowed size: 2000 pixels', undefined],
  [400, 'A maximum of 100 PDF pages may be provided.', undefined],
  [400, 'max_tokens is too large: 9000. This model supports at most 8192 completion tokens', undefined],
])('HTTP %d "%s" of a request with 8 images teaches %o', (status, message, learned) => {
  expect(mediaToLearn(verdictOf(status, message), showing(8))).toEqual(learned);
});

test('a limit in bytes teaches nothing of media beside much text, which it counts too', () => {
  const refused = verdictOf(413, 'Request Entity Too Large');
  expect(mediaToLearn(refused, viewOf([user('x'.repeat(BYTES), picture())]))).toBeUndefined();
});

test('an answer for which media were left out brings what the server took, and a request that knows it is sent once', async () => {
  const sent: number[] = [];
  const call = async ({ request }: { readonly request: { readonly view: View } }): Promise<ModelAnswer> => {
    const count = shown(request.view).length;
    sent.push(count);
    const verdict = verdictOf(413, 'Request Entity Too Large');
    if (count > 1) throw new ModelCallError('refused', { verdict, status: 413, vendorMessage: '' });
    return { content: [{ type: 'text', text: 'seen' }], stopReason: 'end' };
  };
  const request = { model: 'm', view: showing(3), maximumOutput: 9, cacheKey: 'c' };
  const { learnedMedia } = await answerWithRepairs(request, OPENAI_IMAGES, call);
  expect(learnedMedia).toEqual({ bytes: 1.5 * BYTES });
  const again = await answerWithRepairs({ ...request, media: learnedMedia ?? {} }, OPENAI_IMAGES, call);
  expect(again.learnedMedia).toBeUndefined();
  expect(sent).toEqual([3, 1, 1]);
});

test('a PDF that a server does not take teaches nothing of images', () => {
  const file = { type: 'file', name: 'a.pdf', mediaType: 'application/pdf', pages: 1, data: 'AAAA' } as const;
  const refused = verdictOf(400, 'PDF input is not supported');
  expect(refused).toMatchObject({ cause: 'media_refused' });
  expect(mediaToLearn(refused, viewOf([user('read', file, picture())]))).toBeUndefined();
});

function assess(body: unknown, status = 400) {
  return classifyError({ status, headers: {}, body, streamed: false }, 0);
}

describe('media that a model takes none of', () => {
  test.each([
    [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
    [404, 'No endpoints found that support image input'],
    [400, 'Invalid content type. image_url is only supported by certain models.'],
    [400, 'At most 0 image(s) may be provided in one prompt.'],
    [400, 'Image input is not enabled for this model'],
    [400, 'This model does not support image content.'],
    [422, 'unknown variant `image_url`, expected `text`'],
    [400, 'some-7b is not a multimodal model'],
  ])('HTTP %d "%s" leaves all media out, and without any is no overflow', (status, message) => {
    expect(assess({ error: { message } }, status)).toMatchObject({ cause: 'media_refused', repair: 'drop_media' });
  });

  test('a limit on their size or their number is another thing', () => {
    expect(assess('At most 4 image(s) may be provided in one prompt.').cause).toBe('payload_too_large');
    expect(assess('image of 6 MB exceeds the maximum of 5 MB').cause).toBe('payload_too_large');
  });
});
