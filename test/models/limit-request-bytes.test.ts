import { expect, test } from 'vitest';
import type { ImagePart } from '../../src/context/log/content.ts';
import type { View } from '../../src/context/view/view.ts';
import { answerWithRepairs } from '../../src/models/protocols/call-repairs.ts';
import { ANTHROPIC_IMAGES, OPENAI_IMAGES } from '../../src/models/protocols/fit-images.ts';
import { boundMedia } from '../../src/models/protocols/media-bounds.ts';
import { assistant, call, results, user, viewOf } from '../support/model-builders.ts';

const LIMIT = 100_000;

const picture = (bytes: number): ImagePart => ({
  type: 'image',
  mediaType: 'image/png',
  data: 'A'.repeat(bytes),
  width: 8,
  height: 8,
});

/** A conversation of that many results, each with a picture. */
const looking = (pictures: number, bytes: number): View =>
  viewOf([
    user('look'),
    ...Array.from({ length: pictures }, (_, number) => [
      assistant(call(`c${number}`)),
      results([`c${number}`, `picture ${number}`, picture(bytes)]),
    ]).flat(),
  ]);

/** Which pictures a view shows, by their order in the conversation. */
function shown(view: View): number[] {
  const contents = view.messages.flatMap((message) =>
    message.role === 'tool_results' ? message.results.map(({ content }) => content) : [],
  );
  return contents.flatMap((content, number) => (content.some(({ type }) => type === 'image') ? [number] : []));
}

test('R23 beyond the bytes that a vendor takes, the oldest media become lines before the request is sent', () => {
  const within = looking(9, 10_000);
  expect(boundMedia(within, {}, LIMIT)).toBe(within);
  const limited = boundMedia(looking(12, 10_000), {}, LIMIT);
  expect(shown(limited)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(Buffer.byteLength(JSON.stringify(limited))).toBeLessThanOrEqual(LIMIT);
  expect(limited.messages).toHaveLength(25);
  expect(JSON.stringify(limited.messages[2])).toContain('image of 8 × 8 pixels left out');
  expect(JSON.stringify(limited.messages[2])).toContain('picture 0');
});

test('R23 the same media are left out for many calls, so that the prompt stays cached', () => {
  const first = Array.from({ length: 20 }, (_, more) => shown(boundMedia(looking(10 + more, 10_000), {}, LIMIT))[0]);
  expect(new Set(first).size).toBeLessThanOrEqual(8);
  expect(first).toEqual(first.toSorted((one, other) => (one ?? 0) - (other ?? 0)));
});

test('R23 text counts too; what the newest message brings is left to the vendor', () => {
  const long = viewOf([user('x'.repeat(95_000), picture(4_000)), assistant('seen'), user('and this', picture(4_000))]);
  const limited = JSON.stringify(boundMedia(long, {}, LIMIT).messages);
  expect(limited.match(/left out/g)).toHaveLength(1);
  const single = viewOf([user('look', picture(2 * LIMIT))]);
  expect(boundMedia(single, {}, LIMIT)).toBe(single);
});

test.each([ANTHROPIC_IMAGES, OPENAI_IMAGES])('R23 a call keeps to the limit of its protocol: %o', async (images) => {
  // Files, because images of this size would be scaled down first.
  const file = { type: 'file', name: 'scan.pdf', mediaType: 'application/pdf', pages: 1 } as const;
  const data = 'A'.repeat(12_000_000);
  const messages = Array.from({ length: 6 }, (_, number) => user(`scan ${number}`, { ...file, data }));
  const sent: number[] = [];
  await answerWithRepairs(
    { model: 'm', view: viewOf(messages), maximumOutput: 9, cacheKey: 'c' },
    images,
    async (it) => {
      const contents = it.request.view.messages.flatMap((one) => (one.role === 'user' ? one.content : []));
      sent.push(contents.reduce((bytes, part) => bytes + (part.type === 'file' ? part.data.length : 0), 0));
      return { content: [{ type: 'text', text: 'read' }], stopReason: 'end' };
    },
  );
  expect(sent).toHaveLength(1);
  expect(sent[0]).toBeLessThanOrEqual(images.requestBytes);
  expect(sent[0]).toBeGreaterThan(images.requestBytes / 3);
});
