import { Hono } from 'hono';
import { z } from 'zod';
import { FaultSchema } from '../faults/fault.ts';
import type { FaultStore } from '../faults/fault-store.ts';
import type { RequestLog } from './request-log.ts';

/** Requests that `GET /control/requests` shows when not told otherwise. */
const SHOWN_REQUESTS = 20;

/**
 * What tests steer the simulator by: `POST`, `GET` and `DELETE /control/faults`, `DELETE /control/faults/<id>`,
 * `GET /control/requests?last=n` and `DELETE /control/requests`.
 */
export function controlRoutes(faults: FaultStore, log: RequestLog): Hono {
  const app = new Hono();
  app.post('/faults', async (context) => {
    const parsed = FaultSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!parsed.success) return context.json({ error: z.prettifyError(parsed.error) }, 400);
    return context.json(faults.add(parsed.data), 201);
  });
  app.get('/faults', (context) => context.json({ faults: faults.list() }));
  app.delete('/faults', (context) => context.json({ removed: faults.remove() }));
  app.delete('/faults/:id', (context) => {
    const removed = faults.remove(context.req.param('id'));
    return context.json({ removed }, removed === 0 ? 404 : 200);
  });
  app.get('/requests', (context) => {
    const last = Number(context.req.query('last') ?? SHOWN_REQUESTS);
    if (!Number.isInteger(last) || last < 0)
      return context.json({ error: 'last must be a whole number, 0 or more' }, 400);
    return context.json(log.report(last));
  });
  app.delete('/requests', (context) => {
    log.reset();
    return context.json({ removed: true });
  });
  return app;
}
