import type { z } from 'zod';
import type { Scope } from '../../store/conversations/api-keys.ts';
import type { ClientErrorCode } from '../errors.ts';

/** `message`: joins the open turn of its conversation, and begins one where none is open. `calls`: of a model, without an answer. */
export type Use = 'turn' | 'message' | 'calls';

/**
 * One method of the client over HTTP. Arguments that the path names stand in the path; the others in the query of GET and DELETE, else in
 * the JSON body. A list is answered as `{ "items": […] }`, a single value as `{ "value": … }`, nothing as 204.
 */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  /** Below `/v1`, as OpenAPI writes it. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly arguments: z.ZodRawShape;
  readonly result: z.ZodType;
  /** Argument that the header `Idempotency-Key` gives. */
  readonly idempotencyKey?: 'messageId' | 'startKey' | 'decisionId';
  /** What the key of a caller must have room for. */
  readonly uses?: Use;
  /** It waits for what comes, for as long as `timeoutMilliseconds`, its connection and its key last. */
  readonly waits?: true;
  /** An argument that needs the scope `admin`. */
  readonly adminArgument?: string;
  /** Default: 200. */
  readonly status?: 200 | 201 | 202;
  /** Codes of its errors, beside those of all endpoints and of ids that nobody has. */
  readonly refuses?: readonly ClientErrorCode[];
}

/** Names of the arguments in a path. */
export function pathArguments(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => name);
}
