import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import type { Database } from '../store/database/database.ts';
import type { Listeners } from '../store/database/listen.ts';
import { requireNamespace } from '../store/database/temporal-namespace.ts';
import type { MeaningSearch } from '../store/search/find-by-meaning.ts';
import type { TemporalAddress } from '../temporal/profile.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import type { EndpointName } from './api/endpoints.ts';
import { checkArguments } from './arguments.ts';
import type { Doorbell, RungTemporal } from './sending/doorbell.ts';
import { StoreError } from '../store/database/errors.ts';
import { clientClosed, clientError } from './errors.ts';
import { withPatience } from './sending/patience.ts';
import type { WaysToSend } from './sending/ways-to-send.ts';

/** What the methods of a client share. */
export interface ClientContext {
  readonly database: Database;
  readonly listeners: Listeners;
  readonly temporal: RungTemporal;
  readonly doorbell: Doorbell;
  readonly sending: WaysToSend;
  readonly meaning: MeaningSearch | null;
  readonly tenant: string;
  readonly taskQueue: string;
  readonly boundary: Boundary;
}

type Shape = z.ZodRawShape | z.ZodType;

/** What every method passes: a closed client does nothing, and neither does one with arguments that make no sense. */
export interface Boundary {
  /** Checks, does the work, and throws what a client throws. @throws HoldfastClientError */
  call<Result>(method: string, argument: unknown, shape: Shape, work: () => Promise<Result>): Promise<Result>;
  /**
   * The methods of a group, each called by way of the boundary.
   * @param shapes of methods that have no endpoint, or take more than theirs
   */
  guard<Methods extends object>(group: string, methods: Methods, shapes?: Readonly<Record<string, Shape>>): Methods;
  close(): void;
}

/** What the caller's own function threw: it comes back as it is. */
export class ThrownByCaller extends Error {}

const AsyncGeneratorFunction = async function* none() {}.constructor;

function isEndpointName(name: string): name is EndpointName {
  return Object.hasOwn(ENDPOINTS, name);
}

const schemas = new WeakMap<z.ZodRawShape, z.ZodType>();

/** One for each shape: zod compiles a parser for each new schema, which takes longer than most reads. */
function schemaOf(shape: z.ZodRawShape): z.ZodType {
  const schema = schemas.get(shape) ?? z.object(shape);
  schemas.set(shape, schema);
  return schema;
}

export function createBoundary(): Boundary {
  let isClosed = false;
  const check = (method: string, argument: unknown, shape: Shape): void => {
    if (isClosed) throw clientClosed();
    checkArguments(method, shape instanceof z.ZodType ? shape : schemaOf(shape), argument);
  };
  const call: Boundary['call'] = async (method, argument, shape, work) => {
    check(method, argument, shape);
    try {
      return await work();
    } catch (error) {
      throw error instanceof ThrownByCaller ? error.cause : clientError(error);
    }
  };
  return {
    call,
    guard: (group, methods, shapes = {}) =>
      new Proxy(methods, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name);
          if (typeof method !== 'function') return method;
          const full = `${group}.${String(name)}`;
          const shape = shapes[String(name)] ?? (isEndpointName(full) ? ENDPOINTS[full].arguments : {});
          // It yields, so it cannot be awaited here; what it throws is a client's error already.
          if (method instanceof AsyncGeneratorFunction)
            return async function* checked(argument: unknown) {
              check(full, argument, shape);
              yield* method.call(target, argument);
            };
          return (argument: unknown = {}) => call(full, argument, shape, () => method.call(target, argument));
        },
      }),
    close: () => {
      isClosed = true;
    },
  };
}

/** A connection that is made when it is first asked for, and again after it could not be made. */
export function lazyTemporal(
  database: Database,
  address: TemporalAddress,
  codecs?: readonly PayloadCodec[],
): RungTemporal & { readonly close: () => Promise<void> } {
  let connecting: Promise<Client> | null = null;
  let connected: Client | null = null;
  let isRight: Promise<void> | null = null;
  let closed = false;
  // Loaded late: reading needs no Temporal, and loading its client takes longer than most reads.
  const load = () => Promise.all([import('../temporal/connect.ts'), import('../temporal/namespace.ts')]);
  const connect = async (): Promise<Client> => {
    try {
      const [{ connectClient }, { describeNamespace }] = await load();
      connected = await connectClient(address, codecs);
      if (closed) await connected.connection.close();
      else await requireNamespace(database, await describeNamespace(connected));
      return connected;
    } catch (error) {
      connecting = null;
      throw error;
    }
  };
  const client = (): Promise<Client> => (connecting ??= connect());
  const compare = async (): Promise<void> => {
    await requireNamespace(database, { name: address.namespace });
    const refusal = await withPatience(
      client().then(
        () => null,
        (error: unknown) => error,
      ),
      null,
    );
    if (refusal instanceof StoreError && refusal.code === 'namespace_differs') throw refusal;
  };
  return {
    client,
    requireNamespace: () =>
      (isRight ??= compare().catch((error: unknown) => {
        isRight = null;
        throw error;
      })),
    load,
    /** Does not wait for a connection that is still being made: it is closed once it is there. */
    async close() {
      closed = true;
      await connected?.connection.close();
    },
  };
}
