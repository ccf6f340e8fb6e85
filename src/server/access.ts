import { randomBytes } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { Use } from '../client/api/endpoint.ts';
import { userOfMachine } from '../client/decision-methods.ts';
import { hashKey } from '../client/keys.ts';
import { findApiKey, listKeysInForce, readTenantUse } from '../store/conversations/api-keys.ts';
import type { ApiKey, Scope } from '../store/conversations/api-keys.ts';
import type { Database, Queries } from '../store/database/database.ts';
import { transaction } from '../store/database/transaction.ts';
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
   * Begins a turn, or calls a model, where the key has room for it. What was sent before takes no room again.
   * @throws RequestError `too_many_turns`, `cost_limit_reached`
   */
  inRoom<Result>(wanted: Wanted, work: () => Promise<Result>): Promise<Result>;
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

interface Wanted {
  readonly caller: Caller;
  /** `null`: what takes no room. */
  readonly use: Use | null;
  readonly sent?: Sent;
}

/** Each as the application. */
interface KeyDatabases {
  readonly database: Database;
  /** Connections that are held while others work. */
  readonly locks: Database;
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
    inRoom: (_, work) => work(),
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

/** Milliseconds for which a server that stands still keeps the others from beginning turns of a tenant. */
const LOCK_MILLISECONDS = 30_000;

/** Work that counts the turns of a tenant and then begins one: two at once would both find the last place. Other servers wait too. */
function oneAtATime(locks: Database) {
  const newest = new Map<string, Promise<unknown>>();
  return async <Result>(tenant: string, work: (sql: Queries) => Promise<Result>): Promise<Result> => {
    const locked = () =>
      transaction(locks, async (open) => {
        await open`select set_config('idle_in_transaction_session_timeout', ${String(LOCK_MILLISECONDS)}, true)`;
        await open`select pg_advisory_xact_lock(hashtextextended(${`turns of ${tenant}`}, 0))`;
        return work(open);
      });
    // One connection for each tenant, however many wait.
    const mine = (newest.get(tenant) ?? Promise.resolve()).then(locked, locked);
    newest.set(tenant, mine);
    const forget = (): unknown => newest.get(tenant) === mine && newest.delete(tenant);
    mine.then(forget, forget);
    return mine;
  };
}

/** @param defaults of keys that name no limits of their own */
export function keyAccess({ database, locks }: KeyDatabases, defaults: KeyDefaults): Access {
  const rate = createRequestRate();
  const inTurn = oneAtATime(locks);
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
      const most = key.limits.requestsPerMinute ?? defaults.requestsPerMinute;
      const wait = rate.take(key.id, most);
      if (wait > 0) {
        const what = `The key may make ${most} requests a minute, and has made them.`;
        throw new RequestError('too_many_requests', what, { retryAfterSeconds: wait });
      }
      return { tenant: key.tenant, key, name: key.name };
    },
    async inRoom({ caller: { key }, use, sent = {} }, work) {
      if (key === null || use === null) return work();
      const openTurns = key.limits.openTurns ?? defaults.openTurns;
      const limits = { openTurns, costPerDay: key.limits.costPerDay ?? defaults.costPerDay };
      const workInRoom = async (sql: Queries) => {
        await requireRoom(sql, { tenant: key.tenant, limits }, { ...sent, use });
        return work();
      };
      // A call of a model takes no place of a turn, and may take long.
      return use === 'calls' || openTurns === null ? workInRoom(database) : inTurn(key.tenant, workInRoom);
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
  sql: Queries,
  { tenant, limits: { openTurns, costPerDay } }: Limited,
  { use, ...sent }: Sent & { readonly use: Use },
): Promise<void> {
  if (openTurns === null && costPerDay === null) return;
  const used = await readTenantUse(sql, tenant, sent);
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
