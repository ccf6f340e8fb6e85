import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { insertApiKey, listApiKeys, revokeApiKey, SCOPES } from '../store/conversations/api-keys.ts';
import type { ApiKey, KeyLimits, Scope } from '../store/conversations/api-keys.ts';
import { named, oneOf, text, time } from './arguments.ts';
import type { ClientContext } from './client-context.ts';

/** Random bytes of a key: nobody guesses it, so a plain hash keeps it. */
const KEY_BYTES = 32;
const PREFIX = 'hf_';

export function hashKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

const limit = z.number({ error: 'must be a number' }).positive({ error: 'must be more than 0' }).optional();
export const KEY_SHAPES = {
  revoke: { keyId: text },
  create: {
    name: named,
    tenant: named.optional(),
    scopes: z
      .array(oneOf(...SCOPES), { error: 'must be a list' })
      .min(1, { error: 'must name a scope' })
      .optional(),
    expiresAt: time.optional(),
    limits: z.object({ requestsPerMinute: limit, openTurns: limit, costPerDay: limit }).optional(),
  },
};

/** Keys of the HTTP API, of all tenants. */
export class KeyMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Makes a key. Only this call returns it: the database stores its hash.
   * @param options.name who uses it, 1 to 200 characters
   * @param options.tenant whose conversations it opens. Default: the client's tenant
   * @param options.scopes what it may do. Default: read, write and decide
   * @param options.expiresAt ISO time. Default: never
   * @param options.limits of requests, open turns and cost. Default: none
   */
  async create(options: {
    readonly name: string;
    readonly tenant?: string;
    readonly scopes?: readonly Scope[];
    readonly expiresAt?: string;
    readonly limits?: Partial<KeyLimits>;
  }): Promise<ApiKey & { readonly key: string }> {
    const { database, tenant: own } = this.#context;
    const { name, tenant = own, scopes = ['read', 'write', 'decide'], expiresAt = null } = options;
    const limits = { requestsPerMinute: null, openTurns: null, costPerDay: null, ...options.limits };
    const key = `${PREFIX}${randomBytes(KEY_BYTES).toString('base64url')}`;
    const made = await insertApiKey(database, hashKey(key), { tenant, name, scopes, expiresAt, limits });
    return { ...made, key };
  }

  /** All keys, newest first, revoked and expired ones too. */
  list(): Promise<ApiKey[]> {
    return listApiKeys(this.#context.database);
  }

  /**
   * Refuses requests with a key from now on; its event streams end within seconds.
   * @param options.keyId as `keys.list` returns it
   * @returns whether it existed
   */
  revoke(options: { readonly keyId: string }): Promise<boolean> {
    return revokeApiKey(this.#context.database, options.keyId);
  }
}
