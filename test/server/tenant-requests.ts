import { expect } from 'vitest';
import { pathArguments } from '../../src/client/api/endpoint.ts';
import type { Endpoint } from '../../src/client/api/endpoint.ts';
import type { TenantClients } from '../../src/client/tenants.ts';
import { keyAccess } from '../../src/server/access.ts';
import { serverLimits } from '../../src/server/limits.ts';
import { startServer } from '../../src/server/start-server.ts';
import type { RunningServer } from '../../src/server/start-server.ts';
import { MCP_TOOLS } from '../../src/server/mcp-tools.ts';
import type { McpTool } from '../../src/server/mcp-tools.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Answer } from './server-harness.ts';

/** As the documents ask for: a login that inherits from both roles. */
export async function urlOfLogin(harness: TurnHarness): Promise<string> {
  const url = new URL(harness.databaseUrl);
  url.username = `server_${newId().replaceAll('-', '')}`;
  url.password = 'secret';
  url.searchParams.delete('options');
  await harness.database.begin(async (open) => {
    await open`set local role none`;
    await open.unsafe(`create role ${url.username} login password 'secret' in role holdfast_app, holdfast_api`);
  });
  return url.href;
}

/** Several of them serve the same database. */
export function startKeyedServer(tenants: TenantClients): Promise<RunningServer> {
  return startServer({
    clientOf: tenants.of,
    access: keyAccess(tenants, serverLimits.parse({ requestsPerMinute: 100_000 })),
    needsKeys: true,
    configured: { agents: [], presets: [], links: [] },
    checkReady: async () => undefined,
    version: '0.0.0',
    port: 0,
    limits: { keyCheckSeconds: 0.1 },
    log: (error) => expect.unreachable(String(error)),
  });
}

/** What a request needs besides ids. */
const OTHER_ARGUMENTS: Readonly<Record<string, unknown>> = {
  content: 'Say more',
  task: 'Say more',
  text: 'yes',
  rule: 'a rule',
  query: 'heron',
  agent: 'default',
  by: 'conversation',
  branch: 0,
  pin: 1,
  sequence: 1,
  count: 1,
  call: '1.1.0',
  timeoutMilliseconds: 0,
};

/** Method, path and body of a request that names these ids wherever it can. */
export function requestOf(
  endpoint: Endpoint,
  ids: Readonly<Record<string, string>>,
): readonly [method: string, path: string, body?: unknown] {
  const { method, path, idempotencyKey } = endpoint;
  const all: Record<string, unknown> = { ...OTHER_ARGUMENTS, ...ids };
  const inPath = pathArguments(path);
  const rest = Object.keys(endpoint.arguments).filter(
    (name) => name in all && !inPath.includes(name) && name !== idempotencyKey,
  );
  const given = Object.fromEntries(
    rest
      .filter((name) => !(name === 'agent' && 'conversationId' in endpoint.arguments))
      .map((name) => [name, all[name]]),
  );
  const address = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(String(all[name])));
  if (method === 'post') return ['POST', `/v1${address}`, given];
  const query = new URLSearchParams(
    Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return [method.toUpperCase(), `/v1${address}?${query.toString()}`];
}

type Request = readonly [method: string, path: string, body?: object];

/** What an MCP tool needs besides ids. */
const TOOL_ARGUMENTS = { text: 'Say more', query: 'heron', decision: 'approve', call: '1.1.0', timeout_seconds: 0 };

/**
 * Requests that name these ids where no endpoint of the API does: cursors, bytes, responses and tools of MCP.
 * @param own conversation of the caller
 */
export function otherRequests(ids: Readonly<Record<string, string>>, own: string): readonly Request[] {
  const { conversationId = '', messageId = '', entryId = '', memoryId = '', compactionId, deliveryId } = ids;
  const call = `${conversationId}/1.1.0`;
  const named = `${conversationId}_${messageId}`;
  const previous = { previous_response_id: `resp_${named}` };
  const continued = { conversation: conversationId };
  const inside = {
    input: [
      { type: 'message', id: `msg_${named}_1` },
      { role: 'user', content: 'Say more' },
    ],
  };
  const next = { model: 'default', input: 'Say more', background: true };
  const compact = { model: 'default' };
  return [
    ['GET', `/v1/entries/${entryId}/content`],
    ['GET', `/v1/entries/${compactionId}`],
    ['GET', `/v1/conversations/${own}/audit?compactionId=${compactionId}`],
    ['GET', `/v1/webhook-failures?before=${deliveryId}`],
    ['GET', `/v1/conversations?before=${conversationId}`],
    ['GET', `/v1/memories?before=${memoryId}`],
    ['GET', `/v1/decisions?after=${call}`],
    ['GET', `/v1/decisions/made?before=${call}`],
    ['GET', `/v1/conversations/${conversationId}/events`],
    ['GET', `/v1/responses/resp_${named}`],
    ['POST', `/v1/responses/resp_${named}/cancel`],
    ...[previous, continued, inside].map((of): Request => ['POST', '/v1/responses', { ...next, ...of }]),
    ...[previous, continued].map((of): Request => ['POST', '/v1/responses/compact', { ...compact, ...of }]),
    ...Object.entries<McpTool>(MCP_TOOLS).flatMap(([name, { input }]) => {
      const all = { ...TOOL_ARGUMENTS, conversation_id: conversationId, message_id: messageId, entry_id: entryId };
      const given = Object.fromEntries(Object.entries(all).filter(([key]) => key in input));
      const params = { name, arguments: given };
      const isNaming = 'conversation_id' in input || 'entry_id' in input;
      return isNaming ? [['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }] as const] : [];
    }),
  ];
}

/** Each has one row of the tenant `ada`, after `ownRows` and `ownDecisions`. */
export const OWN_LISTS = [
  'webhooks',
  'webhook-failures',
  'memories',
  'decisions',
  'decisions/made',
  'standing-approvals',
];

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** A conversation of the tenant `ada` or another one, with all that the routes show. */
export async function ownConversation(harness: TurnHarness, call: Call): Promise<Readonly<Record<string, string>>> {
  const { body } = await call('POST', '/v1/conversations', { task: 'Say heron' });
  const path = `/v1/conversations/${body.conversationId}`;
  await call('GET', `${path}/messages/${body.messageId}/outcome`);
  const entries = await call('GET', `${path}/entries`);
  const memory = { kind: 'fact', text: 'Heron.', origin: 'user', scope: 'agent', scopeName: 'default' } as const;
  const memoryId = newId();
  await insertMemory(harness.database, { ...memory, id: memoryId, tenant: 'ada' });
  const { conversationId, messageId } = body;
  const { body: webhook } = await call('POST', '/v1/webhooks', { url: 'https://example.org' });
  const { webhookId } = webhook;
  return { conversationId, messageId, entryId: entries.body.items[0].entryId, memoryId, webhookId };
}

/** To more than the buffers on the way to a reader hold. */
export async function lengthenEntries({ database }: TurnHarness, conversationId: string): Promise<void> {
  const content = [{ type: 'text', text: 'x'.repeat(30_000_000) }];
  await database.begin(async (open) => {
    await open`set local session_replication_role = replica`;
    await open`
      update holdfast.entries set content = ${JSON.stringify(content)}::text::json where conversation_id = ${conversationId}`;
  });
}

/** Of the conversation: a compaction, and a delivery that was given up, after one to the webhook of the tenant `bob`. */
export async function ownRows(
  { database }: TurnHarness,
  { entryId = '', webhookId = '' }: Readonly<Record<string, string>>,
  webhookOfBob: string,
): Promise<Readonly<Record<string, string>>> {
  const [compactionId, deliveryId] = [newId(), newId()];
  await database.begin(async (open) => {
    // Past the fence of the turn, which has ended.
    await open`set local session_replication_role = replica`;
    await open`
      insert into holdfast.compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, plan, head_entry_id,
        tokens_before, tokens_after, status, number, marker_entry_id, first_kept_sequence, covered_through_sequence, summary,
        summary_measurements, view_after, finished_at)
      select ${compactionId}, conversation_id, turn_id, epoch, 1, 'manual', 'default', 'summary', '{}', id, 2, 1, 'committed', 1, id,
        sequence, sequence - 1, '"Heron."', measurements, measurements, now()
      from holdfast.entries where id = ${entryId}`;
    await open`
      insert into holdfast.webhook_deliveries (id, webhook_id, tenant, conversation_id, event, body, due_at, created_at)
      select id, webhook_id, tenant, ${newId()}, 'turn_ended', '{}', null, created_at
      from (values (${deliveryId}::uuid, ${webhookId}::uuid, 'ada', now()),
        (${newId()}, ${webhookOfBob}, 'bob', now() - interval '1 hour')) as d (id, webhook_id, tenant, created_at)`;
  });
  return { compactionId, deliveryId };
}

/** A call that waits, one that was decided, and a decision for an agent. */
export async function ownDecisions(harness: TurnHarness, call: Call): Promise<void> {
  const task = 'Call write_file with {"path":"a.txt","content":"x"}\nSay done';
  const untilWaiting = (calls: number) =>
    waitUntil('calls wait', async () => (await call('GET', '/v1/decisions')).body.items.length === calls);
  const { body: decided } = await call('POST', '/v1/conversations', { task });
  await untilWaiting(1);
  await call('POST', `/v1/conversations/${decided.conversationId}/approve`);
  await untilWaiting(0);
  await call('POST', '/v1/conversations', { task });
  await untilWaiting(1);
  await harness.database`
    insert into holdfast.standing_decisions (tenant, agent, rule, state, decided_at, turn_id, call_number, call_index)
    values ('ada', 'another', 'write_file', 'approved', now(), ${newId()}, 1, 0)`;
}
