import type { ProviderDefinition } from '../provider.ts';
import { withKey } from './keyed-transport.ts';
import { createTransport, type Transport } from './transport.ts';

/** A server that is silent for this long is taken for dead. */
const IDLE_MILLISECONDS = 60_000;
/** OpenAI sends nothing while a model reasons, for minutes; its own agent waits as long. */
const IDLE_MILLISECONDS_RESPONSES = 300_000;
/** 128,000 tokens at 70 a second take half an hour. */
const TOTAL_MILLISECONDS = 1_800_000;

/**
 * What both SDKs are given: no retries (they belong to Temporal), no log (it would print the
 * conversation), our own time limits, and nothing from environment variables but the given key.
 */
export function sdkOptions(provider: ProviderDefinition): {
  apiKey: string;
  maxRetries: 0;
  logLevel: 'off';
  timeout: number;
  fetch: Transport;
  defaultHeaders: Record<string, null>;
} {
  const idleDefault = provider.protocol === 'responses' ? IDLE_MILLISECONDS_RESPONSES : IDLE_MILLISECONDS;
  const totalMilliseconds = provider.totalTimeoutMilliseconds ?? TOTAL_MILLISECONDS;
  const transport = createTransport({
    idleMilliseconds: provider.idleTimeoutMilliseconds ?? idleDefault,
    totalMilliseconds,
  });
  return {
    apiKey: provider.apiKey ?? 'none',
    maxRetries: 0,
    logLevel: 'off',
    timeout: totalMilliseconds,
    fetch: provider.key === undefined ? transport : withKey(transport, provider.key, provider),
    // Both SDKs send a key as bearer; `null` removes the header for a server without keys.
    defaultHeaders: provider.apiKey === null ? { authorization: null } : {},
  };
}
