import type { SimulatorRequest } from '../core/request.ts';
import { vendorError, VendorError, vendorErrorBody } from '../core/vendor-error.ts';
import type { Fault } from '../faults/fault.ts';
import { OVERFLOW_VENDORS, overflowBody } from '../faults/overflow-bodies.ts';

/**
 * Whether the input fits the window, as the vendor checks it: Anthropic refuses the sum of input and
 * `max_tokens` as well, OpenAI only the input.
 */
export function windowRefusal(request: SimulatorRequest, inputTokens: number): VendorError | undefined {
  const limit = request.model.window;
  const numbers = { actual: inputTokens, limit, maximumOutput: request.maximumOutput };
  if (inputTokens > limit) return overflowRefusal(ownVendor(request), numbers);
  if (request.protocol === 'anthropic' && inputTokens + request.maximumOutput > limit)
    return overflowRefusal('anthropic-sum', numbers);
  return undefined;
}

function ownVendor(request: SimulatorRequest): string {
  switch (request.protocol) {
    case 'anthropic':
      return 'anthropic';
    case 'chat':
      return 'openai';
    case 'responses':
      return 'openai-responses';
  }
}

function overflowRefusal(
  vendor: string,
  numbers: { actual: number; limit: number; maximumOutput: number },
): VendorError {
  const known = overflowBody(vendor, numbers);
  if (known === undefined) {
    return new VendorError(400, {
      error: { message: `the simulator knows no vendor "${vendor}"; use one of ${OVERFLOW_VENDORS.join(', ')}` },
    });
  }
  return new VendorError(known.status, known.body);
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
      return overflowRefusal(fault.vendor ?? ownVendor(request), {
        actual,
        limit,
        maximumOutput: request.maximumOutput,
      });
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
    case 'connection_reset':
    case 'hang':
    case 'cut_stream':
    case 'stall_stream':
    case 'stream_error':
    case 'delay':
    case 'malformed_arguments':
    case 'cut_arguments':
    case 'unknown_tool':
    case 'empty_answer':
    case 'refusal':
    case 'content_filter':
    case 'cut_answer':
    case 'window_full':
    case 'summary_empty':
    case 'summary_cut_off':
    case 'summary_too_long':
    case 'summary_tool_call':
    case 'summary_without_sections':
      return undefined;
  }
}

/** A request to a path that the vendor does not have. */
export function notFound(path: string): object {
  return vendorErrorBody('chat', { status: 404, message: `Invalid URL (${path})`, code: 'unknown_url' });
}
