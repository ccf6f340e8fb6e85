import { createMiddleware } from 'hono/factory';
import { RequestError } from './problem.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1';
}

/**
 * A page of another site may make a browser call an address of this machine, also by a name of its own that leads there. Without keys
 * nothing else would keep it out.
 */
export const refuseOtherOrigins = createMiddleware(async (context, next) => {
  const { host: name, hostname } = new URL(context.req.url);
  if (!isLoopback(hostname))
    throw new RequestError('origin_refused', 'Without keys this server is called by 127.0.0.1 or localhost.');
  const origin = context.req.header('origin');
  const isOther = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== name);
  if (isOther || context.req.header('sec-fetch-site') === 'cross-site') {
    throw new RequestError('origin_refused', 'Pages of other sites are refused.');
  }
  await next();
});
