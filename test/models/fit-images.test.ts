import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { ImagePart } from '../../src/context/log/content.ts';
import { ANTHROPIC_IMAGES, fitImages, IMAGE_TYPES } from '../../src/models/protocols/fit-images.ts';
import { assistant, call, PICTURE, results, user, viewOf } from '../support/model-builders.ts';

/** White, or noise, which cannot be compressed. */
async function picture(
  width: number,
  height: number,
  { format = 'png', isNoise = false }: { format?: 'png' | 'tiff'; isNoise?: boolean } = {},
): Promise<ImagePart> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const drawn = sharp({ create: { width, height, channels: 3, background: 'white', ...(isNoise && { noise }) } });
  const data = await drawn.toFormat(format).toBuffer();
  return { type: 'image', mediaType: `image/${format}`, data: data.toString('base64'), width, height };
}

async function fitted(image: ImagePart, limits = ANTHROPIC_IMAGES) {
  const view = await fitImages(viewOf([user('look', image)]), limits);
  const [, sent] = view.messages[0]?.role === 'user' ? view.messages[0].content : [];
  if (sent?.type !== 'image') throw new Error('the image is gone');
  const { width, height, format } = await sharp(Buffer.from(sent.data, 'base64')).metadata();
  expect([sent.width, sent.height, sent.mediaType]).toEqual([width, height, `image/${format}`]);
  return sent;
}

test('an image over the longest edge is scaled down, always to the same bytes', async () => {
  const large = await picture(2_600, 1_300);
  const sent = await fitted(large);
  expect([sent.width, sent.height]).toEqual([2_000, 1_000]);
  const again = await fitImages(viewOf([user(large)]), { ...ANTHROPIC_IMAGES, longestData: 4_999_999 });
  expect(again.messages[0]).toMatchObject({ content: [{ data: sent.data }] });
});

test('D2 an image of which the view shows fewer patches is scaled to that many', async () => {
  const sent = await fitted({ ...(await picture(1_500, 1_000)), mostPatches: 300 });
  const patches = Math.ceil(sent.width / 28) * Math.ceil(sent.height / 28);
  expect(patches).toBeLessThanOrEqual(300);
  expect(patches).toBeGreaterThan(250);
});

test('an image with too many bytes becomes a smaller one', async () => {
  const limits = { ...ANTHROPIC_IMAGES, longestEdge: 600, longestData: 60_000 };
  const sent = await fitted(await picture(500, 500, { isNoise: true }), limits);
  expect(sent.data.length).toBeLessThanOrEqual(60_000);
});

test('a format that no vendor takes is converted', async () => {
  const sent = await fitted(await picture(40, 30, { format: 'tiff' }));
  expect(IMAGE_TYPES).toContain(sent.mediaType);
  expect([sent.width, sent.height]).toEqual([40, 30]);
});

test('what fits is not touched, also in results of tools; what is no image stays as it is', async () => {
  const broken: ImagePart = { type: 'image', mediaType: 'image/heic', data: 'AAAA', width: 1, height: 1 };
  const messages = [user('x', PICTURE), assistant(call('c')), results(['c', 'text', PICTURE, broken])];
  expect((await fitImages(viewOf(messages), ANTHROPIC_IMAGES)).messages).toEqual(messages);
  const inResult = [user('x'), assistant(call('c')), results(['c', await picture(2_400, 10)])];
  const sent = await fitImages(viewOf(inResult), ANTHROPIC_IMAGES);
  expect(sent.messages[2]).toMatchObject({ results: [{ content: [{ width: 2_000, height: 8 }] }] });
});
