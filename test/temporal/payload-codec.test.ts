import { defaultPayloadConverter } from '@temporalio/common';
import type { Payload } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { patientCodec, remoteCodec, requireWorkingCodec } from '../../src/temporal/payload-codec.ts';
import { startHttpServer } from '../support/http-server.ts';
import type { HttpServer } from '../support/http-server.ts';

/** A codec server that reverses the bytes of the data. */
async function startCodecServer(): Promise<HttpServer> {
  const server = await startHttpServer(({ text }, response) => {
    const { payloads } = JSON.parse(text) as { payloads: { data: string }[] };
    for (const payload of payloads)
      payload.data = Buffer.from(Buffer.from(payload.data, 'base64').toReversed()).toString('base64');
    response.end(JSON.stringify({ payloads }));
  });
  onTestFinished(() => server.close());
  return server;
}

test('a codec server encodes and decodes by the protocol of Temporal', async () => {
  const server = await startCodecServer();
  const codec = remoteCodec({ endpoint: `${server.url}/{namespace}/`, authorization: 'Bearer x' }, 'mail');
  const payload = defaultPayloadConverter.toPayload({ id: 1 });
  const [encoded] = await codec.encode([payload]);
  expect(Buffer.from(encoded?.data ?? []).toString()).toBe('}1:"di"{');
  const [decoded] = await codec.decode(encoded === undefined ? [] : [encoded]);
  expect(defaultPayloadConverter.fromPayload(decoded as Payload)).toEqual({ id: 1 });
  expect(server.requests).toMatchObject([
    { path: '/mail/encode', headers: { 'x-namespace': 'mail', authorization: 'Bearer x' } },
    { path: '/mail/decode', headers: { 'x-namespace': 'mail', authorization: 'Bearer x' } },
  ]);
  await requireWorkingCodec([codec]);
});

test('a codec that fails, or does not give back what it was given, is refused at the start', async () => {
  const same = (payloads: Payload[]) => Promise.resolve(payloads);
  const fails = { encode: () => Promise.reject(new Error('no key k3')), decode: same };
  await expect(requireWorkingCodec([fails])).rejects.toMatchObject({
    code: 'payload_codec_failed',
    message: expect.stringContaining('no key k3') as string,
  });
  const loses = { encode: same, decode: () => Promise.resolve([{ metadata: {}, data: Buffer.from('other') }]) };
  await expect(requireWorkingCodec([loses])).rejects.toMatchObject({ code: 'payload_codec_failed' });
});

test('a codec server that is silent is waited for once: a second wait would outlast the workflow task', async () => {
  const server = await startHttpServer(() => undefined);
  onTestFinished(() => server.close());
  const codec = patientCodec([remoteCodec({ endpoint: server.url }, 'mail')]);
  await expect(codec.decode([defaultPayloadConverter.toPayload({ id: 1 })])).rejects.toThrow('timeout');
  expect(server.requests).toHaveLength(1);
});
