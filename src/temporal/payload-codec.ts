import { setTimeout as delay } from 'node:timers/promises';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { TemporalError } from './errors.ts';

/** With the last answer of a codec server it stays below the 5 s of a workflow task. */
const DECODING_MILLISECONDS = 2_000;
const PAUSE_MILLISECONDS = 500;
const MESSAGE_LIMIT = 200;

/**
 * The codecs of a worker as one, which treats every failure as an outage. Decoding throws after two seconds, and Temporal repeats the task.
 * Encoding waits until it works, because the SDK cancels running work whose heartbeat it cannot encode.
 * @param onFailure gets what failed and why, at the first try
 */
export function patientCodec(
  codecs: readonly PayloadCodec[],
  onFailure: (reason: string) => void = () => undefined,
): PayloadCodec {
  const repeated = async <Result>(what: 'encode' | 'decode', work: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === 1) onFailure(`cannot ${what}: ${messageOf(error)}`);
        if (what === 'decode' && performance.now() - began >= DECODING_MILLISECONDS) throw error;
        await delay(PAUSE_MILLISECONDS, undefined, { ref: false });
      }
    }
  };
  const one = asOne(codecs);
  return {
    encode: (...given) => repeated('encode', () => one.encode(...given)),
    decode: (...given) => repeated('decode', () => one.decode(...given)),
  };
}

/** Applied from the last to the first, as Temporal does. */
function asOne(codecs: readonly PayloadCodec[]): PayloadCodec {
  return {
    encode: (payloads, context) =>
      codecs.reduceRight(async (done, codec) => codec.encode(await done, context), Promise.resolve(payloads)),
    decode: (payloads, context) =>
      codecs.reduce(async (done, codec) => codec.decode(await done, context), Promise.resolve(payloads)),
  };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_LIMIT);
}

/** For the start of a worker or client. @throws TemporalError `payload_codec_failed` */
export async function requireWorkingCodec(codecs: readonly PayloadCodec[]): Promise<void> {
  const probe = JSON.stringify({ holdfast: 'probe' });
  const payload = { metadata: { [METADATA_ENCODING_KEY]: Buffer.from('json/plain') }, data: Buffer.from(probe) };
  const advice = 'Correct the codec, its keys or TEMPORAL_CODEC_ENDPOINT.';
  let decoded: Payload[];
  try {
    const one = asOne(codecs);
    decoded = await one.decode(await one.encode([payload]));
  } catch (error) {
    throw new TemporalError('payload_codec_failed', `The payload codec fails: ${messageOf(error)}`, advice, {
      cause: error,
    });
  }
  if (Buffer.from(decoded[0]?.data ?? []).toString() === probe) return;
  throw new TemporalError('payload_codec_failed', 'The payload codec does not decode what it encoded.', advice);
}

const jsonPayload = z.object({
  metadata: z.record(z.string(), z.string()).default({}),
  data: z.string().default(''),
});
const codecAnswer = z.object({ payloads: z.array(jsonPayload) });

/** Milliseconds to wait for a codec server. */
const ANSWER_MILLISECONDS = 2_000;

/** A server that encodes and decodes by Temporal's protocol for codecs: `POST {endpoint}/encode` and `/decode`. */
export function remoteCodec(
  { endpoint, authorization }: { readonly endpoint: string; readonly authorization?: string },
  namespace: string,
): PayloadCodec {
  const base = endpoint.replaceAll('{namespace}', encodeURIComponent(namespace)).replace(/\/$/u, '');
  const ask = async (what: 'encode' | 'decode', payloads: readonly Payload[]): Promise<Payload[]> => {
    const response = await fetch(`${base}/${what}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-namespace': namespace,
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify({ payloads: payloads.map(toJson) }),
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
    });
    if (!response.ok) throw new Error(`the codec server answers ${response.status}`);
    return codecAnswer.parse(await response.json()).payloads.map(fromJson);
  };
  return { encode: (payloads) => ask('encode', payloads), decode: (payloads) => ask('decode', payloads) };
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function toJson({ metadata, data }: Payload): z.input<typeof jsonPayload> {
  return {
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [key, toBase64(value)])),
    ...(data != null && { data: toBase64(data) }),
  };
}

function fromJson({ metadata, data }: z.output<typeof jsonPayload>): Payload {
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')])),
    data: Buffer.from(data, 'base64'),
  };
}
