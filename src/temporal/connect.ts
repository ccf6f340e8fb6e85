import { Client, Connection } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { TemporalNamespace } from '../turn/temporal-namespace.ts';
import { dataConverter } from './data-converter.ts';

export interface TemporalAddress {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** Temporal Cloud or a server with API keys; turns TLS on. */
  readonly apiKey?: string;
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

// Measured: p99 of a ring into an ending turn 0.7 s instead of 2 to 4 s.
const retry = makeGrpcRetryInterceptor(
  defaultGrpcRetryOptions({ initialIntervalMs: () => 50, maxIntervalMs: () => 2_000, maxAttempts: 12 }),
);

/** gRPC's CANCELLED, which is not retried. */
const CANCELLED = 1;

/**
 * The SDK retries from a timer. When the connection was closed meanwhile, the error that the call's making throws would reach
 * nobody there and end the process: the call is answered as cancelled instead.
 */
function cancelledWhenClosed(makeCall: () => Call): Call {
  try {
    return makeCall();
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error);
    return {
      start(metadata, listener) {
        // As every unary call ends that has no answer; the retry waits for it.
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
 * A client that rings doorbells well: a turn that is just ending refuses a signal for a moment
 * ("workflow is closing"), and the default retry would wait a second or more each time.
 */
export async function connectClient(temporal: TemporalAddress): Promise<Client> {
  const connection = await Connection.connect({
    address: temporal.address,
    ...(temporal.apiKey !== undefined && { apiKey: temporal.apiKey }),
    connectTimeout: '5 seconds',
    interceptors: [(options, nextCall) => retry(options, (tried) => cancelledWhenClosed(() => nextCall(tried)))],
  });
  return new Client({ connection, namespace: temporal.namespace, dataConverter });
}

/** The namespace of a client, as its server has it. */
export async function describeNamespace({ workflowService, options }: Client): Promise<TemporalNamespace> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace: options.namespace });
  return { name: options.namespace, id: namespaceInfo?.id ?? '' };
}

/** The worker's own connection. Tries for `patienceMilliseconds`, so that a worker may start before its server. */
export async function connectWorker(
  temporal: TemporalAddress,
  patienceMilliseconds = 60_000,
): Promise<NativeConnection> {
  const deadline = performance.now() + patienceMilliseconds;
  for (let delay = 200; ; delay = Math.min(delay * 2, 5_000)) {
    try {
      return await NativeConnection.connect({
        address: temporal.address,
        ...(temporal.apiKey !== undefined && { apiKey: temporal.apiKey }),
      });
    } catch (error) {
      if (performance.now() + delay > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
