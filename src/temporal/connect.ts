import { Client, Connection } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { dataConverterWith } from './data-converter.ts';
import { remoteCodec, requireWorkingCodec } from './payload-codec.ts';
import { connectionOptions } from './profile.ts';
import type { TemporalAddress } from './profile.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

// Measured: a ring into an ending turn takes 0.7 s (p99) instead of 2 to 4 s.
const retry = makeGrpcRetryInterceptor(
  defaultGrpcRetryOptions({ initialIntervalMs: () => 50, maxIntervalMs: () => 2_000, maxAttempts: 12 }),
);

/** gRPC's CANCELLED. The interceptor does not retry it. */
const CANCELLED = 1;

/**
 * The SDK retries from a timer. If the connection was closed meanwhile, the error of a new call would reach nobody and end the process.
 * So the call ends as cancelled.
 */
function cancelledWhenClosed(makeCall: () => Call): Call {
  try {
    return makeCall();
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error);
    return {
      start(metadata, listener) {
        // A unary call without an answer ends so, and the retry waits for it.
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
      },
      cancelWithStatus: () => undefined,
      getPeer: () => '',
      sendMessageWithContext: () => undefined,
      sendMessage: () => undefined,
      startRead: () => undefined,
      halfClose: () => undefined,
      getAuthContext: () => null,
    };
  }
}

/**
 * A client that rings doorbells quickly. A turn that is ending refuses a signal for a moment ("workflow is closing"), and the default
 * retry would wait a second or more each time.
 * @throws TemporalError `payload_codec_failed`
 */
export async function connectClient(
  temporal: TemporalAddress,
  codecs: readonly PayloadCodec[] = codecsOf(temporal),
): Promise<Client> {
  if (codecs.length > 0) await requireWorkingCodec(codecs);
  const connection = await Connection.connect({
    ...connectionOptions(temporal),
    connectTimeout: '5 seconds',
    interceptors: [(options, nextCall) => retry(options, (tried) => cancelledWhenClosed(() => nextCall(tried)))],
  });
  return new Client({ connection, namespace: temporal.namespace, dataConverter: dataConverterWith(codecs) });
}

/** The codecs given in code, else the codec server of the profile. */
export function codecsOf({ codec, namespace }: TemporalAddress): readonly PayloadCodec[] {
  return codec === undefined ? [] : [remoteCodec(codec, namespace)];
}

const PATIENCE_MILLISECONDS = 60_000;

/** The worker's own connection. Tries for a minute, so that a worker may start before Temporal. */
export async function connectWorker(temporal: TemporalAddress): Promise<NativeConnection> {
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  for (let delay = 200; ; delay = Math.min(delay * 2, 5_000)) {
    try {
      return await NativeConnection.connect(connectionOptions(temporal));
    } catch (error) {
      if (performance.now() + delay > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
