import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Holdfast } from '../client/holdfast.ts';
import type { Scope } from '../store/conversations/api-keys.ts';
import { requireScope } from './access.ts';
import type { Access, Caller } from './access.ts';
import type { ServerLimits } from './limits.ts';
import { RequestError } from './problem.ts';

/** What a route finds that serves a caller. */
export interface Admitted {
  Bindings: HttpBindings;
  Variables: {
    caller: Caller;
    /** The client of the caller's tenant. @throws RequestError `scope_missing` */
    clientFor: (scope: Scope) => Holdfast;
  };
}

/** Before the routes of every door: who asks, and then how much is sent. */
export function admit({
  access,
  clientOf,
  limits: { bodyBytes },
}: {
  readonly access: Access;
  readonly clientOf: (tenant: string) => Holdfast;
  readonly limits: ServerLimits;
}): MiddlewareHandler<Admitted> {
  const limitBody = bodyLimit({
    maxSize: bodyBytes,
    onError: () => {
      throw new RequestError('body_too_large', `A body has at most ${bodyBytes} bytes.`);
    },
  });
  return async (context, next) => {
    // It would run as a GET whose body nobody reads: an event stream or an export that never ends.
    if (context.req.method === 'HEAD')
      throw new RequestError('route_not_found', 'There is no HEAD route at this path.');
    const caller = await access.callerOf(context);
    context.set('caller', caller);
    context.set('clientFor', (scope) => {
      requireScope(caller, scope);
      return clientOf(caller.tenant);
    });
    context.header('cache-control', 'no-store');
    // Other methods have no body that is read; to look for one would cost them more than all the rest.
    if (context.req.method === 'POST') return limitBody(context, next);
    return next();
  };
}
