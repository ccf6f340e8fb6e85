import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { openLiveText } from '../../../src/activities/runtime/show-calls.ts';
import { describeConversation } from '../../../src/client/conversation.ts';
import type { Holdfast } from '../../../src/client/holdfast.ts';
import { connectTenants } from '../../../src/client/tenants.ts';
import { keyAccess, localAccess } from '../../../src/server/access.ts';
import type { Access } from '../../../src/server/access.ts';
import { serverLimits } from '../../../src/server/limits.ts';
import { loginLink } from '../../../src/server/login-link.ts';
import { startServer } from '../../../src/server/start-server.ts';
import { AS_APPLICATION } from '../../../src/local/postgres/postgres-login.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import { isolateTenants } from '../../../src/store/database/migration-ledger.ts';
import { launchChromium } from '../../../test/support/chromium.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { median, ratios, summarize } from '../statistics.ts';
import { freePort } from '../../../src/local/ports.ts';
import { measureWatchers } from './server-watchers.ts';

const REQUESTS_A_ROUND = 200;
const DELTAS = 200;
/** About the pace at which models write words. Milliseconds. */
const PAUSE_MILLISECONDS = 23;

/** What the HTTP server adds to a read and to live text, what its watchers take, and what row-level security costs. */
export async function measureServer(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const sent = await stack.client.start('Say hello');
  await stack.client.conversation.outcome({ ...sent, signal: stack.signal });
  const { conversationId } = sent;
  return [
    ...(await measureLiveText(stack, conversationId)),
    ...(await measureWatchers(stack)),
    ...(await measureReads(stack, conversationId, rounds)),
  ];
}

/** A server on a free port. */
export async function serve(access: Access, clientOf: (tenant: string) => Holdfast, needsKeys: boolean) {
  return startServer({
    access,
    clientOf,
    needsKeys,
    configured: { agents: [], presets: [], links: [] },
    checkReady: async () => undefined,
    version: '0',
    port: 0,
    log: (error) => process.stderr.write(`${String(error)}\n`),
  });
}

/** Beside a bare route that reads the same rows; last, since row-level security stays on in the database. */
async function measureReads(stack: BenchStack, conversationId: string, rounds: number): Promise<Figure[]> {
  const { client, connections, database } = stack;
  const { databaseUrl, temporalAddress: address, temporalNamespace: namespace } = connections;
  const read = connectDatabase({ url: databaseUrl, applicationName: 'holdfast-bench-bare', maximumConnections: 4 });
  const bare = createAdaptorServer({
    fetch: new Hono().get('/:id', async (context) =>
      context.json(await describeConversation(read, context.req.param('id'))),
    ).fetch,
  });
  const port = await freePort();
  await new Promise<void>((resolve) => bare.listen(port, '127.0.0.1', resolve));
  const local = await serve(localAccess('default'), () => client, false);
  await isolateTenants(database);
  // The superuser may act as any role.
  const superuser = databaseUrl.replace(AS_APPLICATION, '');
  const tenants = await connectTenants({ databaseUrl: superuser, temporal: { address, namespace } });
  const limits = serverLimits.parse({ requestsPerMinute: 10_000_000 });
  const keyed = await serve(keyAccess(tenants, limits), tenants.of, true);
  const { key } = await client.keys.create({ name: 'bench', scopes: ['read'] });
  try {
    const path = `/v1/conversations/${conversationId}`;
    const routes = {
      bare: () => fetch(`http://127.0.0.1:${port}/${conversationId}`),
      local: () => fetch(`${local.url}${path}`),
      keyed: () => fetch(`${keyed.url}${path}`, { headers: { authorization: `Bearer ${key}` } }),
    };
    const times = { bare: [] as number[], local: [] as number[], keyed: [] as number[] };
    for (let round = -1; round < rounds; round += 1) {
      for (const name of ['bare', 'local', 'keyed'] as const) {
        const time = await timeOf(routes[name]);
        if (round >= 0) times[name].push(time);
      }
    }
    const figure = { benchmark: 'server' } as const;
    return [
      {
        ...figure,
        name: 'GET a conversation / bare route',
        unit: '×',
        target: { atMost: 1.5 },
        ...ratios(times.local, times.bare),
      },
      {
        ...figure,
        name: 'GET with a key, under row-level security / bare route',
        unit: '×',
        ...ratios(times.keyed, times.bare),
      },
      { ...figure, name: 'GET of the bare route', unit: 'ms', ...summarize(times.bare) },
    ];
  } finally {
    await keyed.close();
    await local.close();
    await tenants.close();
    bare.close();
    await read.end({ timeout: 1 });
  }
}

async function timeOf(ask: () => Promise<Response>): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request < REQUESTS_A_ROUND; request += 1) {
    const begun = performance.now();
    const answer = await ask();
    await answer.text();
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** From a delta reaching the worker to a browser's page holding it; each delta says when it was written. */
async function measureLiveText({ client, connections }: BenchStack, conversationId: string): Promise<Figure[]> {
  const server = await serve(localAccess('default'), () => client, false);
  const browser = await launchChromium();
  const notifier = connectDatabase({
    url: connections.databaseUrl,
    applicationName: 'holdfast-bench-live',
    maximumConnections: 1,
  });
  try {
    const page = await browser.newPage();
    await page.goto(await loginLink(server.url));
    await page.goto(`${server.url}/#/conversations/${conversationId}`);
    await page.locator('.activity .ending').waitFor();
    await page.evaluate(NOTE_DELAYS);
    const live = openLiveText(notifier, { conversationId, turnId: randomUUID(), callNumber: 1_000, attempt: 1 });
    let text = '';
    for (let delta = 0; delta < DELTAS; delta += 1) {
      text = `<${Date.now()}>`;
      live.write({ kind: 'text', text });
      await sleep(PAUSE_MILLISECONDS);
    }
    await live.close();
    await page.locator('.activity', { hasText: text }).waitFor();
    const delays = await page.evaluate<number[]>('delays');
    const name = 'delta in the worker → text in the page of a browser';
    return [{ benchmark: 'server', unit: 'ms', name, target: { atMost: 150 }, ...summarize(delays) }];
  } finally {
    await browser.close();
    await server.close();
    await notifier.end({ timeout: 1 });
  }
}

/** Milliseconds from the writing of each delta to the page that holds it. Clock of the machine, which worker and browser share. */
const NOTE_DELAYS = `
  delays = [];
  new MutationObserver(() => {
    const written = [...document.querySelector('.activity').textContent.matchAll(/<(\\d+)>/g)];
    for (const [, at] of written.slice(delays.length)) delays.push(Date.now() - at);
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`;
