import { classifyError } from './errors/classify.ts';
import { vendorMessageOf } from './errors/signals.ts';
import { property } from './protocols/json.ts';
import { ModelCallError, type ErrorVerdict, type RequestSize } from './model-client.ts';

/**
 * Internal: the server kept silent or took too long, or what came is not a whole answer. Says neither "timeout" nor "timed out",
 * because both SDKs replace errors with these words by one without a cause.
 */
export class BrokenAnswerError extends Error {
  override readonly name = 'BrokenAnswerError';
}

/**
 * Internal: a refusal, whether it came with an HTTP status of an error, as a body with HTTP 200 where a stream was asked for, or as an
 * event of a stream that began well.
 */
export class RefusedInBody extends Error {
  override readonly name = 'RefusedInBody';
  /** The event's error or the body, whatever its shape. */
  readonly body: unknown;
  /** `null`: it came within a stream. */
  readonly response: Pick<Response, 'status' | 'headers'> | null;

  constructor(body: unknown, response: Pick<Response, 'status' | 'headers'> | null = null) {
    super('The provider answered with an error.');
    this.body = body;
    this.response = response;
  }
}

/** Rejection of a call whose signal was aborted. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
}

/**
 * What a failed call means. Nothing that the vendor or the runtime wrote goes into the message or
 * the cause, since both end up in Temporal's history: a vendor may quote the conversation, and a
 * parser quotes what it could not parse.
 */
export function toModelCallError(thrown: unknown, provider: string, size?: RequestSize): ModelCallError {
  // The SDKs wrap what the transport throws, also a key that it could not read.
  const error = isConnectionError(thrown) ? (thrown.cause ?? thrown) : thrown;
  if (error instanceof ModelCallError) return error;
  if (error instanceof RefusedInBody) return refused(error, provider, size);
  if (isConnectionError(error) || !isApiError(error)) return failedConnection(error, provider);
  // The SDK of Bedrock reads the events of a stream itself.
  return refused(new RefusedInBody(error.error ?? error.message), provider, size);
}

/**
 * Errors of the SDKs, told by their form: importing the classes would load both SDKs at start, and the packages for clouds
 * may bring copies of the SDK, whose classes are others of the same name.
 */
function isApiError(error: unknown): error is Error & { readonly error: unknown } {
  return error instanceof Error && ['status', 'headers', 'error'].every((field) => field in error);
}

/** Not one of Bedrock's events, which has other words (`ThrottlingException`). */
function isConnectionError(error: unknown): error is Error & { readonly status: undefined } {
  return isApiError(error) && /^(?:Connection error|Request timed out)\.$/.test(error.message);
}

function refused({ body, response }: RefusedInBody, provider: string, size: RequestSize | undefined): ModelCallError {
  const status = response?.status;
  const headers = Object.fromEntries(response?.headers ?? []);
  const verdict = classifyError({ status, headers, body, streamed: response === null }, Date.now(), size);
  const where = status === undefined ? 'in the stream' : `with HTTP ${status}`;
  return new ModelCallError(`${provider} refused the call ${where}: ${verdict.evidence}`, {
    verdict,
    status,
    vendorMessage: vendorMessageOf(body),
  });
}

function failedConnection(error: unknown, provider: string): ModelCallError {
  const evidence = connectionEvidence(error);
  if (evidence === undefined) return missingCredentials(error, provider) ?? ownFault(error, provider);
  const verdict: ErrorVerdict = { kind: 'retryable', cause: 'connection', repair: 'wait', evidence };
  return new ModelCallError(`The call of ${provider} broke off: ${evidence}`, {
    verdict,
  });
}

/** What broke, by class and system code only; `undefined` when it was not the connection. */
function connectionEvidence(error: unknown): string | undefined {
  if (error instanceof BrokenAnswerError) return error.message;
  const code = property(error, 'code') ?? property(error, 'cause', 'code');
  if (typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code)) return `connection error ${code}`;
  // The vendors' event streams hold JSON; what is not was damaged on the way.
  if (error instanceof SyntaxError) return 'an event of the stream was damaged';
  const runtime = error instanceof TypeError && /^(?:terminated|fetch failed|network error)/i.test(error.message);
  return runtime || isConnectionError(error) ? 'the connection failed' : undefined;
}

/** Frames of the libraries that look for a cloud's credentials, before anything is sent. */
const CREDENTIALS_LIBRARY =
  /node_modules\/(?:google-auth-library|gtoken|@aws-sdk|@smithy|@anthropic-ai\/(?:bedrock|vertex)-sdk)\//;

/** Claude on a cloud without credentials: the user has to provide them. Nothing of the conversation is in these words. */
function missingCredentials(error: unknown, provider: string): ModelCallError | undefined {
  if (!(error instanceof Error)) return undefined;
  const [first = ''] = /^ +at .*$/m.exec(error.stack ?? '') ?? [];
  if (error.name !== 'CredentialsProviderError' && !CREDENTIALS_LIBRARY.test(first)) return undefined;
  return new ModelCallError(`The cloud of ${provider} could not be asked: it has no usable credentials`, {
    verdict: {
      kind: 'permanent',
      cause: 'authentication',
      repair: 'stop',
      evidence: 'no usable credentials of the cloud',
    },
    vendorMessage: `The SDK of this cloud found no credentials that it can use, where the worker runs: ${error.message}`,
  });
}

/** A fault on this side: a retry would meet it again. Names the place in the code, not the message. */
function ownFault(error: unknown, provider: string): ModelCallError {
  const name = error instanceof Error ? error.name : typeof error;
  const place = error instanceof Error ? /^ +at .*$/m.exec(error.stack ?? '')?.[0]?.trim() : undefined;
  const evidence = `${name} while calling ${provider}${place === undefined ? '' : ` (${place})`}`;
  return new ModelCallError(`Holdfast failed to make or read the call: ${evidence}`, {
    verdict: { kind: 'permanent', cause: 'unknown', repair: 'stop', evidence },
  });
}
