import type { SimulatorRequest } from '../core/request.ts';
import { vendorError, VendorError, vendorErrorBody } from '../core/vendor-error.ts';
import type { Fault } from '../faults/fault.ts';
import { overflowRefusal, overflowWithAnswer } from '../faults/overflow-bodies.ts';

/**
 * Whether the input fits the window, as the vendor checks it: Anthropic refuses the sum of input and
 * `max_tokens` as well, OpenAI only the input.
 */
export function windowRefusal(request: SimulatorRequest, inputTokens: number): VendorError | undefined {
  const { protocol, model, maximumOutput } = request;
  const numbers = { actual: inputTokens, limit: model.window };
  if (inputTokens > model.window) return overflowRefusal(protocol, numbers);
  if (protocol === 'anthropic' && inputTokens + maximumOutput > model.window)
    return overflowWithAnswer(numbers, maximumOutput);
  return undefined;
}

const SERVER_MESSAGES: Readonly<Record<number, string>> = {
  500: 'Internal server error',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Gateway timeout',
  529: 'Overloaded',
};

/** The refusal that a fault stands for; `undefined` for faults that break the answer or the connection. */
export function faultRefusal(fault: Fault, request: SimulatorRequest, inputTokens: number): VendorError | undefined {
  const { protocol } = request;
  switch (fault.kind) {
    case 'overflow': {
      const limit = fault.limit ?? request.model.window;
      // An overflow is over the limit, whatever was really sent.
      const actual = fault.actual ?? Math.max(inputTokens, limit + 1);
      return overflowRefusal(protocol, { actual, limit });
    }
    case 'rate_limit': {
      const headers: Record<string, string> =
        fault.retryAfterSeconds === null ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
      const message =
        protocol === 'anthropic'
          ? "This request would exceed your organization's rate limit."
          : `Rate limit reached for ${request.model.id}.`;
      return vendorError(protocol, { status: 429, message, code: 'rate_limit_exceeded', headers });
    }
    case 'server_error':
      return vendorError(protocol, { status: fault.status, message: SERVER_MESSAGES[fault.status] ?? 'Server error' });
    case 'status':
      return new VendorError(fault.status, fault.body, fault.headers);
    default:
      return undefined;
  }
}

/** A request to a path that the vendor does not have. */
export function notFound(path: string): object {
  return vendorErrorBody('chat', { status: 404, message: `Invalid URL (${path})`, code: 'unknown_url' });
}
