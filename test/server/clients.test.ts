/** Clients that others wrote: each completes a task with an approval, a compaction and a killed worker. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { streamText } from 'ai';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, inject, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { freePort } from '../../src/local/ports.ts';
import { respond, startHttpServer } from '../support/http-server.ts';
import type { HttpServer, ReceivedRequest } from '../support/http-server.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startServerProcess, startWorkerProcess } from '../support/worker-process.ts';
import { openAcpx, said } from './acpx.ts';
import { deviationsIn } from './open-responses.ts';

const AGENT = {
  model: 'simulator/sim-8k',
  tools: ['write_file', 'run_command'],
  allowCommands: true,
  approvals: { rules: ['write_file'] },
};

const MCP_SERVER = fileURLToPath(new URL('../tools/support/mcp-fixture.mjs', import.meta.url));

const CONFIGURATION = {
  mcpServers: { held: { command: process.execPath, args: [MCP_SERVER] } },
  agents: { default: { ...AGENT, mcp: ['held__hold_*'] } },
};

const harness = useTurnHarness({ temporalAddress: inject('shortHistoryTemporalAddress') });

/** Events of a message. */
const MESSAGE = [
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
];

function textOfDelta(event: ResponseStreamEvent): string {
  return event.type === 'response.output_text.delta' ? event.delta : '';
}

/** A worker died in the middle of the answer: its item ends as incomplete, and another one holds the answer, which is returned. */
function cutAnswer(events: readonly ResponseStreamEvent[]): string {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, place) => place));
  const types = events.map(({ type }) => type);
  const shape = types.filter((type, place) => type !== types[place - 1]);
  expect(shape.slice(-2 * MESSAGE.length - 1)).toEqual([...MESSAGE, ...MESSAGE, 'response.completed']);
  const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : [])).slice(-2);
  const [cut = '', whole = ''] = items.map(({ id }) =>
    events.map((event) => ('item_id' in event && event.item_id === id ? textOfDelta(event) : '')).join(''),
  );
  expect(items).toMatchObject([{ status: 'incomplete' }, { status: 'completed', content: [{ text: whole }] }]);
  expect([whole.startsWith(cut), cut.length]).toEqual([true, expect.toSatisfy((length) => length > 0)]);
  const last = events.at(-1);
  const kept = last?.type === 'response.completed' ? last.response.output : [];
  expect([kept.at(-1), kept.some(({ id }) => id === items[0]?.id)]).toEqual([items[1], false]);
  return whole;
}

const CLIENTS: Readonly<Record<string, (task: string, serverUrl: string) => Promise<string>>> = {
  async acpx(task) {
    const updates = await (await openAcpx(harness)).prompt(task);
    // It does not say that it shows compactions.
    expect(said(updates, 'agent_thought_chunk')).toMatch(/The context was compacted from [\d,]+ to [\d,]+ tokens/);
    return said(updates, 'agent_message_chunk');
  },

  async openai(task, serverUrl) {
    const openai = new OpenAI({ baseURL: `${serverUrl}/v1`, apiKey: 'none', maxRetries: 0 });
    const stream = await openai.responses.create({ model: 'default', input: task, stream: true });
    const events: ResponseStreamEvent[] = [];
    let text = '';
    for await (const event of stream) {
      expect(deviationsIn(event)).toEqual([]);
      events.push(event);
      text += textOfDelta(event);
      if (text.includes('heron')) await writeFile(join(harness.workspace, 'openai.started'), '');
    }
    return cutAnswer(events);
  },

  async aiSdk(task, serverUrl) {
    const provider = createOpenResponses({ name: 'holdfast', url: `${serverUrl}/v1/responses` });
    return streamText({ model: provider('default'), prompt: task, maxRetries: 0 }).text;
  },

  async mcp(task, serverUrl) {
    const assistant = new Client({ name: 'assistant', version: '1' });
    onTestFinished(() => assistant.close());
    await assistant.connect(new StreamableHTTPClientTransport(new URL(`${serverUrl}/mcp`)));
    const call = async (name: string, given: object): Promise<Record<string, unknown>> => {
      const { structuredContent } = await assistant.callTool({ name, arguments: { ...given } });
      return { ...(structuredContent as object) };
    };
    const { conversation_id, message_id } = await call('start_task', { task });
    for (;;) {
      const { state, answer } = await call('wait_for_turn', { conversation_id, message_id, timeout_seconds: 20 });
      if (state === 'ended') return String(answer);
      if (state === 'waiting_for_approval') await call('decide', { conversation_id, decision: 'approve' });
    }
  },
};

const sentTo = ({ requests }: HttpServer, path: string): string =>
  requests.map((request) => (request.path === path ? request.text : '')).join('');

const taskOf = (name: string): string =>
  [
    `Call write_file with {"path": "${name}.txt", "content": "x"}`,
    ...Array.from({ length: 4 }, () => 'Call run_command with {"command": "seq 1 1500"}'),
    ...(name === 'openai'
      ? [`Say ${'heron '.repeat(60)}all done`]
      : [
          `Call run_command with {"command": "touch ${name}.started; sleep 600", "timeout_seconds": 900}`,
          'Say all done',
        ]),
  ].join('\n');

/** Tools of an MCP server that never answers its first call, by their effect. */
const HELD = ['none', 'idempotent', 'once'];

/** Starts a call of each. */
async function startHeldCalls() {
  const { client } = harness;
  const tasks = HELD.map(async (effect) => client.start(`Call held__hold_${effect} with {}\nSay all done`));
  const started = await Promise.all(tasks);
  const resultOf = async ({ conversationId, messageId }: (typeof started)[number]): Promise<string> => {
    expect(await client.conversation.outcome({ conversationId, messageId })).toMatchObject({ text: 'all done' });
    const { items } = await client.log.entries({ conversationId });
    return textOf(items.find(({ kind }) => kind === 'tool_result')?.content ?? []);
  };
  return {
    conversations: started.map(({ conversationId }) => conversationId),
    /** Once the turns have ended. */
    results: async () => Promise.all(started.map(resultOf)),
  };
}

interface Exported {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: string; readonly name: string }[] }[];
  }[];
}

/** Spans of a turn by the worker that sent them. */
function tracesIn(requests: readonly ReceivedRequest[]): Map<string, Record<string, string[]>> {
  const traces = new Map<string, Record<string, string[]>>();
  for (const { resource, scopeSpans } of requests.flatMap(({ body }) => (body as Exported).resourceSpans ?? [])) {
    const worker = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    for (const { traceId, name } of scopeSpans.flatMap(({ spans }) => spans)) {
      const trace = traces.get(traceId) ?? {};
      traces.set(traceId, { ...trace, [worker]: [...(trace[worker] ?? []), name] });
    }
  }
  return traces;
}

test('acpx, the openai SDK, the AI SDK and an MCP client; the workers show their metrics, and send one trace per turn', async () => {
  const { client, workspace } = harness;
  await writeFile(join(workspace, 'holdfast.yaml'), JSON.stringify(CONFIGURATION));
  const collector = await startHttpServer((_request, response) => respond(response, 200, {}));
  onTestFinished(() => collector.close());
  const telemetry = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  const ports = [await freePort(), await freePort()];
  const [workerMetrics, serverMetrics] = ports.map((port) => ({
    ...telemetry,
    OTEL_METRICS_EXPORTER: 'prometheus,otlp',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_METRIC_EXPORT_TIMEOUT: '1000',
  }));
  const [worker, server] = await Promise.all([
    startWorkerProcess(harness, { ...workerMetrics, OTEL_SERVICE_NAME: 'killed' }),
    startServerProcess(harness, serverMetrics),
  ]);
  onTestFinished(() => server.kill('SIGKILL'));
  // The sixth call of its conversation answers.
  const match = { purpose: 'agent', containing: 'openai.txt' };
  await harness.fault({ kind: 'stall_stream', afterBytes: 1_000, skip: 5, match });
  const names = Object.keys(CLIENTS);
  const held = await startHeldCalls();
  const answers = Promise.all(names.map(async (name) => CLIENTS[name]?.(taskOf(name), server.url)));
  const isRunning = waitUntil('all commands run', async () => {
    // Open Responses has no word for an approval: its users decide elsewhere.
    for (const { conversationId, call, arguments: json } of (await client.decisions.listWaiting()).items) {
      if (/openai|aiSdk/.test(json)) await client.decisions.approve({ conversationId, call }).catch(() => undefined);
    }
    const files = await readdir(workspace);
    const begun = [...names.map((name) => `${name}.started`), ...HELD.map((effect) => `hold_${effect}.held`)];
    return begun.every((file) => files.includes(file));
  });
  await Promise.race([isRunning, answers.then(() => expect.unreachable('a task ended early'))]);
  const [shown = '', shownByServer = ''] = await Promise.all(
    ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
  );
  for (const name of ['compactions_total', 'event_loop_delay', 'database_'])
    expect(shown).toContain(`holdfast_${name}`);
  expect(shown).toContain('temporal_');
  expect(shown).toMatch(/^holdfast_tokens_total\{direction="output",purpose="summary_part"/mu);
  for (const name of ['event_loop_delay', 'database_']) expect(shownByServer).toContain(`holdfast_${name}`);
  await waitUntil('metrics were sent', () =>
    ['holdfast.compactions', 'holdfast-server'].every((name) => sentTo(collector, '/v1/metrics').includes(name)),
  );
  const sent = ['chat', 'execute_tool', 'summarize', 'commitCompaction'];
  await waitUntil('spans of each turn were sent', () => {
    const traces = [...tracesIn(collector.requests).values()];
    return traces.filter(({ killed = [] }) => sent.every((name) => killed.includes(name))).length >= names.length;
  });
  worker.kill('SIGKILL');
  const next = await startWorkerProcess(harness, { ...telemetry, OTEL_SERVICE_NAME: 'next' });
  for (const answer of await answers) expect(answer).toMatch(/all done\s*$/);
  const unknown = expect.stringContaining('Outcome unknown: this call began');
  expect(await held.results()).toEqual(['hold_none again', 'hold_idempotent again', unknown]);
  next.kill('SIGTERM');
  await next.exited;
  const { items: all } = await client.conversation.list();
  const items = all.filter(({ conversationId }) => !held.conversations.includes(conversationId));
  expect(items.map(({ turn }) => [turn?.outcome, (turn?.compactions ?? 0) > 0])).toEqual(
    names.map(() => ['completed', true]),
  );
  const lost = await harness.database`select 1 from holdfast.tool_calls where outcome = 'outcome_unknown'`;
  // Three commands, and the tool that acts once.
  expect(lost).toHaveLength(4);
  const traces = tracesIn(collector.requests);
  const reclaimed: unknown[] = [];
  for (const { conversationId, turn } of items) {
    const runs = await client.log.events({ conversationId, kinds: ['turn_continued'] });
    expect(runs.items.length).toBeGreaterThan(0);
    const again = await client.log.events({ conversationId, kinds: ['model_call_reclaimed'] });
    reclaimed.push(...again.items);
    expect(traces.get(turn?.turnId.replaceAll('-', '') ?? '')).toEqual({
      killed: expect.arrayContaining(sent),
      next: expect.arrayContaining(['chat', 'endTurn']),
    });
  }
  expect(reclaimed).toMatchObject([{ data: { attempt: 2 } }]);
  expect(sentTo(collector, '/v1/traces')).not.toContain('all done');
});
