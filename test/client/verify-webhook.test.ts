import { expect, test } from 'vitest';
import { verifyWebhook, webhookSignature } from '../../src/client/verify-webhook.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes.....').toString('base64')}`;
const sent = { id: 'msg_1', timestamp: '1700000000', body: '{"type":"turn_ended"}' };
const headers = {
  'webhook-id': sent.id,
  'webhook-timestamp': sent.timestamp,
  'webhook-signature': `v1,another ${webhookSignature(secret, sent)}`,
};
const at = (seconds: number) => new Date((1_700_000_000 + seconds) * 1_000);
const received = { secret, headers, body: sent.body, receivedAt: at(1) };

test('the signature is that of Standard Webhooks', () => {
  const example = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: '1614265330',
    body: '{"test": 2432232314}',
  };
  expect(webhookSignature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', example)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('a webhook is taken with its id, and again only within five minutes, with the same id', () => {
  expect(verifyWebhook(received)).toBe('msg_1');
  expect(verifyWebhook({ ...received, receivedAt: at(300) })).toBe('msg_1');
});

test.each([
  ['replayed later', { receivedAt: at(301) }],
  ['from the future', { receivedAt: at(-301) }],
  ['with another body', { body: '{"type":"limit_near"}' }],
  ['under another id', { headers: { ...headers, 'webhook-id': 'msg_2' } }],
  ['with a new time', { headers: { ...headers, 'webhook-timestamp': '1700000200' }, receivedAt: at(201) }],
  ['without a time', { headers: { ...headers, 'webhook-timestamp': 'soon' } }],
  ['of another secret', { secret: `whsec_${Buffer.from('another').toString('base64')}` }],
  ['without a signature', { headers: { ...headers, 'webhook-signature': undefined } }],
])('a webhook %s is refused', (_, changed) => {
  expect(verifyWebhook({ ...received, ...changed })).toBeNull();
});
