import { randomBytes } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { Use } from '../client/api/endpoint.ts';
import { userOfMachine } from '../client/decision-methods.ts';
import { hashKey } from '../client/keys.ts';
import { findApiKey, listKeysInForce, readTenantUse } from '../store/conversations/api-keys.ts';
import type { ApiKey, Scope } from '../store/conversations/api-keys.ts';
import type { Database } from '../store/database/database.ts';
import type { ServerLimits } from './limits.ts';
import { createLocalLogin, keyLogin, readLogin } from './login.ts';
import { RequestError } from './problem.ts';

/** Who makes a request. */
export interface Caller {
  readonly tenant: string;
  /** As which the caller decides: name of the key; without keys the user of this machine, as the shell knows it. */
  readonly name: string | undefined;
  /** `null`: a server without keys lets its own machine do everything. */
  readonly key: ApiKey | null;
}

/** Decides who may do what. */
export interface Access {
  /** Where a browser logs in. */
  readonly login: Hono;
  /** @throws RequestError `key_missing`, `key_refused`, `login_needed`, `origin_refused`, `too_many_requests` */
  callerOf(context: Context): Promise<Caller>;
  /**
   * Before a turn is begun or a model is called. What was sent before takes no room again.
   * @throws RequestError `too_many_turns`, `cost_limit_reached`
   */
  requireRoom(caller: Caller, use: Use, sent?: Sent): Promise<void>;
  /** Which of the keys are still in force. */
  inForce(keyIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What takes room; its fields as they came. */
export interface Sent {
  /** Where it goes on, if it does: its own open turn takes no room from the next one. */
  readonly conversationId?: unknown;
  /** Which makes it count once. */
  readonly idempotencyKey?: unknown;
}

type KeyDefaults = Pick<ServerLimits, 'requestsPerMinute' | 'openTurns' | 'costPerDay'>;

interface Limited {
  readonly tenant: string;
  readonly limits: Pick<ServerLimits, 'openTurns' | 'costPerDay'>;
}

/**
 * For a server without keys, which listens on its own machine only.
 * @param secret 32 random bytes that the cookie of a browser holds. Default: new ones, so that a restart logs all browsers out
 */
export function localAccess(tenant: string, secret: Buffer = randomBytes(32)): Access {
  const { routes, requireLogin } = createLocalLogin(secret);
  return {
    login: routes,
    async callerOf(context) {
      requireLogin(context);
      return { tenant, key: null, name: userOfMachine() };
    },
    requireRoom: async () => undefined,
    inForce: async () => new Set(),
  };
}

const MINUTE_MILLISECONDS = 60_000;

/** Counts requests by key, in this process: a bucket for each holds a minute's requests and fills evenly. */
function createRequestRate() {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    /** @returns seconds to wait; 0: the request was counted */
    take(keyId: string, perMinute: number): number {
      const at = performance.now();
      const bucket = buckets.get(keyId) ?? { left: perMinute, at };
      const filled = bucket.left + ((at - bucket.at) * perMinute) / MINUTE_MILLISECONDS;
      const left = Math.min(perMinute, filled);
      buckets.set(keyId, { left: left < 1 ? left : left - 1, at });
      return left >= 1 ? 0 : Math.ceil(((1 - left) * 60) / perMinute);
    },
  };
}

/** @param defaults of keys that name no limits of their own */
export function keyAccess(database: Database, defaults: KeyDefaults): Access {
  const rate = createRequestRate();
  const keyOf = async (written: string): Promise<ApiKey> => {
    const key = await findApiKey(database, hashKey(written));
    if (key === null) throw new RequestError('key_refused', 'The API key is unknown, expired or revoked.');
    return key;
  };
  return {
    login: keyLogin(keyOf),
    async callerOf(context) {
      const bearer = /^Bearer +(?<key>\S{1,200})$/iu.exec(context.req.header('authorization') ?? '')?.groups?.['key'];
      const written = bearer ?? readLogin(context);
      if (written === null) throw new RequestError('key_missing', 'The request names no API key.');
      const key = await keyOf(written);
      const wait = rate.take(key.id, key.limits.requestsPerMinute ?? defaults.requestsPerMinute);
      if (wait > 0)
        throw new RequestError('too_many_requests', 'The key has made too many requests.', { retryAfterSeconds: wait });
      return { tenant: key.tenant, key, name: key.name };
    },
    async requireRoom({ key }, use, sent = {}) {
      if (key === null) return;
      const { openTurns, costPerDay } = defaults;
      const limits = {
        openTurns: key.limits.openTurns ?? openTurns,
        costPerDay: key.limits.costPerDay ?? costPerDay,
      };
      await requireRoom(database, { tenant: key.tenant, limits }, { ...sent, use });
    },
    inForce: (keyIds) => listKeysInForce(database, keyIds),
  };
}

/** @throws RequestError `scope_missing` */
export function requireScope({ key }: Caller, scope: Scope): void {
  if (key === null || key.scopes.includes(scope) || key.scopes.includes('admin')) return;
  throw new RequestError('scope_missing', `The API key lacks the scope "${scope}": it has ${key.scopes.join(', ')}.`);
}

async function requireRoom(
  database: Database,
  { tenant, limits: { openTurns, costPerDay } }: Limited,
  { use, ...sent }: Sent & { readonly use: Use },
): Promise<void> {
  if (openTurns === null && costPerDay === null) return;
  const used = await readTenantUse(database, tenant, sent);
  if (used.isSent || (use === 'message' && used.isOpen)) return;
  if (use !== 'calls' && openTurns !== null && used.otherTurns >= openTurns) {
    throw new RequestError('too_many_turns', `${used.otherTurns} turns are open, and the key may have ${openTurns}.`);
  }
  if (costPerDay !== null && used.costOfDay >= costPerDay) {
    throw new RequestError(
      'cost_limit_reached',
      `The last 24 hours cost ${used.costOfDay.toFixed(2)} of ${costPerDay} dollars.`,
      { retryAfterSeconds: used.secondsUntilLess },
    );
  }
}
