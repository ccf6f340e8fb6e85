import type { Protocol } from './request.ts';

/** A refusal that a vendor's server would send: thrown by the parsing and checking code, rendered by the server. */
export class VendorError extends Error {
  override readonly name = 'VendorError';
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`the simulator answers with status ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export interface ErrorDetails {
  readonly status: number;
  readonly message: string;
  /** Vendor's error type; by default the one that belongs to the status. */
  readonly type?: string;
  /** OpenAI only. */
  readonly code?: string | null;
  /** OpenAI only: the parameter at fault. */
  readonly parameter?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  429: 'requests',
  500: 'server_error',
  503: 'service_unavailable_error',
};

/** The error in the shape of the vendor that speaks this protocol. */
export function vendorError(protocol: Protocol, details: ErrorDetails): VendorError {
  return new VendorError(details.status, vendorErrorBody(protocol, details), details.headers);
}

export function vendorErrorBody(protocol: Protocol, details: ErrorDetails): object {
  if (protocol === 'anthropic') {
    const type = details.type ?? ANTHROPIC_TYPES[details.status] ?? 'api_error';
    return { type: 'error', error: { type, message: details.message }, request_id: null };
  }
  return {
    error: {
      message: details.message,
      type: details.type ?? OPENAI_TYPES[details.status] ?? 'invalid_request_error',
      param: details.parameter ?? null,
      code: details.code ?? null,
    },
  };
}

/** 400, `invalid_request_error`. */
export function invalidRequest(protocol: Protocol, message: string, parameter: string | null = null): VendorError {
  return vendorError(protocol, { status: 400, message, parameter });
}
