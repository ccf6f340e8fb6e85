import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { viewFingerprint } from '../../src/store/log/view-fingerprint.ts';
import { user, viewOf } from '../support/model-builders.ts';

test('the fingerprint of a view is that of its JSON, and of many megabytes it is taken in several turns of the event loop', async () => {
  const text = 'größe '.repeat(50_000);
  const view = viewOf(Array.from({ length: 40 }, (_, number) => user(`${number} ${text}`)));
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  const fingerprint = await viewFingerprint(view);
  clearInterval(counting);
  const { messages, ...rest } = view;
  const written = [rest, ...messages].map((piece) => JSON.stringify(piece)).join('');
  expect(fingerprint).toBe(createHash('sha256').update(written).digest('base64url').slice(0, 22));
  expect(turns).toBeGreaterThan(1);
});
