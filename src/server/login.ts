/** How a browser says who it is: by a cookie that no script can read and that no other site's page can send. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import { readBody } from './arguments.ts';
import { RequestError } from './problem.ts';

/** Browsers share cookies between the ports of a host: servers beside each other need names of their own. */
function cookieName(context: Context): string {
  return `holdfast_login${new URL(context.req.url).port}`;
}

/** Our pages send it with whatever changes something; a form or a link of another page cannot. */
const PAGE_HEADER = 'x-holdfast-page';
/** The newest links that nobody used yet. */
const MOST_LINKS = 20;

/** Browsers say where a request comes from; programs do not. */
function isFromBrowser(context: Context): boolean {
  return context.req.header('sec-fetch-site') !== undefined || context.req.header('origin') !== undefined;
}

/** What the cookie holds. @throws RequestError `origin_refused` for a change that no page of ours asked for */
export function readLogin(context: Context): string | null {
  const cookie = getCookie(context, cookieName(context)) ?? null;
  const isChange = context.req.method !== 'GET' && context.req.header(PAGE_HEADER) === undefined;
  if (cookie !== null && isChange) {
    throw new RequestError('origin_refused', 'With a cookie, only a page of this server may change something.');
  }
  return cookie;
}

function remember(context: Context, value: string): void {
  const secure = context.req.header('x-forwarded-proto') === 'https';
  setCookie(context, cookieName(context), value, { httpOnly: true, sameSite: 'Strict', path: '/', secure });
}

/** Where a page takes its browser's login away. */
function logoutRoute(): Hono {
  const routes = new Hono();
  routes.post('/logout', (context) => {
    readLogin(context);
    deleteCookie(context, cookieName(context), { path: '/' });
    return context.body(null, 204);
  });
  return routes;
}

/**
 * The login of a server without keys: any program of this machine gets a link, and the browser that follows it first is in.
 * @param secret 32 random bytes that the cookie holds
 */
export function createLocalLogin(secret: Buffer) {
  const tickets = new Set<string>();
  const routes = logoutRoute();
  routes.post('/login-links', (context) => {
    if (isFromBrowser(context)) throw new RequestError('origin_refused', 'A page cannot ask for a link.');
    const ticket = randomBytes(24).toString('base64url');
    tickets.add(ticket);
    const [oldest = ''] = tickets;
    if (tickets.size > MOST_LINKS) tickets.delete(oldest);
    return context.json({ path: `/login?ticket=${ticket}` }, 201);
  });
  routes.get('/login', (context) => {
    // A used link, or one of an earlier run of the server, logs nobody in. The page then asks for a login if the browser has none.
    if (tickets.delete(context.req.query('ticket') ?? '')) remember(context, secret.toString('base64url'));
    return context.redirect('/', 303);
  });
  const requireLogin = (context: Context): void => {
    if (!isFromBrowser(context)) return;
    const given = Buffer.from(readLogin(context) ?? '', 'base64url');
    if (given.length === secret.length && timingSafeEqual(given, secret)) return;
    throw new RequestError('login_needed', 'This browser is not logged in.');
  };
  return { routes, requireLogin };
}

const keyBody = z.strictObject({ key: z.string().trim().min(1).max(200) });

/** A page hands over the API key once. @param check throws for a key that is not in force */
export function keyLogin(check: (key: string) => Promise<unknown>): Hono {
  const routes = logoutRoute();
  routes.post('/login', async (context) => {
    const { success, data } = keyBody.safeParse(await readBody(context));
    if (!success) throw new RequestError('invalid_argument', 'key must be an API key.');
    await check(data.key);
    remember(context, data.key);
    return context.body(null, 204);
  });
  return routes;
}
