import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { connect } from '../../src/client/connect.ts';
import { keyAccess } from '../../src/server/access.ts';
import { createMcpServer } from '../../src/server/mcp-server.ts';
import { serverLimits } from '../../src/server/limits.ts';
import { startServer } from '../../src/server/start-server.ts';
import { waitUntilGone } from '../../src/local/process-signals.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { EXECUTABLE } from '../cli/run-cli.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const FIXTURE = fileURLToPath(new URL('../tools/support/mcp-fixture.mjs', import.meta.url));

/** Of the SDK, whose own limit is a minute. */
const PATIENT = { timeout: 210_000 };

let worker: RunningWorker;

const harness = useTurnHarness({
  environment: { FIXTURE_KEY: 'a-key-that-is-long' },
  configurationFile: JSON.stringify({
    mcpServers: { bad: { command: process.execPath, args: [FIXTURE], variables: ['FIXTURE_KEY'] } },
  }),
  agent: {
    tools: ['write_file', 'ask_user'],
    mcp: ['bad__p*', 'bad__die', 'bad__environment'],
    approvals: { rules: ['write_file', 'bad__put'] },
  },
});

beforeAll(async () => {
  worker = await harness.startWorker();
});

/** The official SDK's client, which checks each result against the output schema that it was told. */
async function connectAssistant(transport: Transport): Promise<Client> {
  const assistant = new Client({ name: 'assistant', version: '1' });
  onTestFinished(() => assistant.close());
  await assistant.connect(transport);
  return assistant;
}

test('an assistant starts a task, decides on its calls, waits for it and finds what was said', async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await createMcpServer(harness.client, '0.0.0').connect(ours);
  const assistant = await connectAssistant(theirs);
  const { tools } = await assistant.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'decide',
    'get_answer',
    'list_summaries',
    'list_waiting',
    'recall_open',
    'recall_search',
    'send_message',
    'start_task',
    'wait_for_turn',
  ]);
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
  expect(destructive.map(({ name }) => name)).toEqual(['decide']);
  const call = async (name: string, given: Record<string, unknown>) => {
    const { structuredContent, isError, content } = await assistant.callTool(
      { name, arguments: given },
      undefined,
      PATIENT,
    );
    expect(isError, JSON.stringify(content)).not.toBe(true);
    return structuredContent as Record<string, unknown>;
  };
  const task =
    'Call write_file with {"path": "a.txt", "content": "heron"}\nCall ask_user with {"question": "Which?"}\nSay all done';
  const started = await call('start_task', { task, start_key: 'once' });
  expect(await call('start_task', { task, start_key: 'once' })).toEqual({ ...started, duplicate: true });
  const { conversation_id, message_id } = started;
  const turn = { conversation_id, message_id, timeout_seconds: 200 };
  const waiting = await call('wait_for_turn', turn);
  expect(waiting).toMatchObject({ state: 'waiting_for_approval', waiting_calls: [{ tool: 'write_file' }] });
  expect(await call('list_waiting', {})).toEqual({
    waiting_calls: waiting['waiting_calls'],
    has_more: false,
  });
  await call('decide', { conversation_id, decision: 'approve' });
  await expect
    .poll(async () => call('list_waiting', {}))
    .toMatchObject({
      waiting_calls: [{ kind: 'question', tool: 'ask_user' }],
    });
  await call('decide', { conversation_id, decision: 'answer', text: 'the second kingfisher' });
  const ended = { state: 'ended', outcome: 'completed', answer: 'all done', waiting_calls: [] };
  expect(await call('wait_for_turn', turn)).toMatchObject(ended);
  expect(await call('get_answer', { conversation_id })).toMatchObject(ended);
  const { passages } = await call('recall_search', { conversation_id, query: 'kingfisher' });
  const [{ entry_id }] = passages as [{ entry_id: string }];
  expect(await call('recall_open', { entry_id })).toMatchObject({ text: 'the second kingfisher', next_offset: null });
  expect(await call('list_summaries', { conversation_id })).toEqual({ summaries: [] });
  const sent = await call('send_message', { conversation_id, text: 'Say more', mode: 'queue' });
  expect(await call('wait_for_turn', { ...turn, message_id: sent['message_id'] })).toMatchObject({
    answer: 'more',
  });
});

test('an assistant of `holdfast mcp` is told by a code what it did wrong', async () => {
  const env = { ...getDefaultEnvironment(), ...harness.environment };
  const { HOLDFAST_RUN } = process.env;
  if (HOLDFAST_RUN !== undefined) env['HOLDFAST_RUN'] = HOLDFAST_RUN;
  const assistant = await connectAssistant(
    new StdioClientTransport({ command: process.execPath, args: [EXECUTABLE, 'mcp'], cwd: harness.workspace, env }),
  );
  const { structuredContent } = await assistant.callTool({ name: 'list_waiting', arguments: {} });
  expect(structuredContent).toEqual({ waiting_calls: [], has_more: false });
  const told = async (name: string, given: Record<string, unknown>) => {
    const { isError, content } = await assistant.callTool({ name, arguments: given });
    expect(isError).toBe(true);
    return JSON.stringify(content);
  };
  const conversation_id = '01890a5d-ac96-774b-bcce-b302099a8057';
  expect(await told('get_answer', { conversation_id })).toContain('conversation_not_found: ');
  expect(await told('decide', { conversation_id, decision: 'answer', text: '' })).toContain('invalid_argument: ');
  const { conversationId } = await harness.runTask('Say hi');
  const gone = { conversation_id: conversationId, decision: 'approve', call: '1.1.0' };
  expect(await told('decide', gone)).toContain('decision_stale: ');
  expect(await told('start_task', { tusk: 'x' })).toContain('Invalid arguments for tool start_task');
  expect(await told('rule_the_world', {})).toContain('-32602');
});

/** What wait_for_turn takes of what start_task returned. */
function waitFor(started: unknown): Record<string, unknown> {
  const { conversation_id, message_id } = started as Record<string, unknown>;
  return { conversation_id, message_id, timeout_seconds: 200 };
}

test('over HTTP a key names tenant and rights, and without a key nobody is served', async () => {
  const faults: unknown[] = [];
  const closed = await connect({
    databaseUrl: harness.environment['DATABASE_URL'] ?? '',
    temporal: { address: harness.temporalAddress, namespace: 'default' },
  });
  await closed.close();
  const server = await startServer({
    clientOf: (tenant) => (tenant === 'other' ? closed : harness.client),
    access: keyAccess({ database: harness.database, locks: harness.database }, serverLimits.parse({})),
    needsKeys: true,
    configured: { agents: [], presets: [], links: [] },
    checkReady: async () => undefined,
    version: '0.0.0',
    port: 0,
    log: (error) => faults.push(error),
  });
  onTestFinished(() => server.close());
  const connectWith = (headers: Record<string, string>) =>
    connectAssistant(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  const as = async (scopes: readonly ('read' | 'write')[], tenant = 'default') => {
    const { key } = await harness.client.keys.create({ name: 'test', tenant, scopes });
    return connectWith({ authorization: `Bearer ${key}` });
  };
  await expect(connectWith({})).rejects.toThrow('key_missing');
  const writer = await as(['read', 'write']);
  const { structuredContent } = await writer.callTool({ name: 'start_task', arguments: { task: 'Say heron' } });
  const elsewhere = await writer.callTool({ name: 'start_task', arguments: { task: 'Say no', workspace: '/' } });
  expect(elsewhere).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('its own workspace') }] });
  const ended = { name: 'wait_for_turn', arguments: waitFor(structuredContent) };
  const waited = await writer.callTool(ended, undefined, PATIENT);
  expect(waited.structuredContent).toMatchObject({ outcome: 'completed', answer: 'heron' });
  const reader = await as(['read']);
  const refused = await reader.callTool({ name: 'start_task', arguments: { task: 'Say no' } });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('scope_missing') }] });
  const decided = await writer.callTool({ name: 'decide', arguments: { conversation_id: 'x', decision: 'deny' } });
  expect(decided).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('scope_missing') }] });
  const unknown = await writer.callTool({ name: 'get_answer', arguments: { conversation_id: 'x' } });
  const told = 'conversation_not_found: there is no conversation "x". Use a conversation_id that a tool returned.';
  expect(unknown.content).toMatchObject([{ text: told }]);
  const { conversation_id, message_id } = structuredContent as Record<string, unknown>;
  const again = { conversation_id, message_id, text: 'Say another' };
  const reused = await writer.callTool({ name: 'send_message', arguments: again });
  const next = 'Call again with another message_id or start_key.';
  expect(reused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(next) }] });
  expect(faults).toEqual([]);
  const failed = await (await as(['read'], 'other')).callTool({ name: 'list_waiting', arguments: {} });
  const text = 'client_closed: Holdfast cannot serve this now.';
  expect(failed).toMatchObject({ isError: true, content: [{ text }] });
  expect(faults).toMatchObject([{ code: 'client_closed' }]);
});

async function resultsOf(conversationId: string): Promise<string[]> {
  const { items } = await harness.client.log.entries({ conversationId });
  return items.flatMap(({ kind, content }) => (kind === 'tool_result' ? [textOf(content)] : []));
}

test('a turn calls tools of an MCP server under the approval rules, with keys masked, and goes on when the server dies', async () => {
  const task = 'Call bad__put with {}\nCall bad__environment with {}\nCall bad__die with {}\nSay all done';
  const { conversationId, messageId } = await harness.client.start(task);
  await waitUntil('the call waits', async () => {
    const { waitingCalls } = await harness.client.conversation.get({ conversationId });
    return waitingCalls.some(({ tool }) => tool === 'bad__put');
  });
  await harness.client.decisions.approve({ conversationId });
  const turn = await harness.client.conversation.outcome({ conversationId, messageId });
  expect(turn).toMatchObject({ outcome: 'completed', text: 'all done' });
  const [put, environment, died] = await resultsOf(conversationId);
  expect(put).toBe('put');
  expect(environment).toContain('"FIXTURE_KEY":"[masked key]"');
  expect(died).toContain('it may have taken effect or not');
  const [call] = await harness.database`
    SELECT outcome FROM holdfast.tool_calls WHERE conversation_id = ${conversationId} AND name = 'bad__die'`;
  expect(call).toMatchObject({ outcome: 'outcome_unknown' });
});

test('the program of an MCP server ends with its worker', async () => {
  const { conversationId } = await harness.runTask(
    'Call bad__parts with {"of": "process"}\nCall bad__environment with {}',
  );
  const [, environment] = await resultsOf(conversationId);
  const { HOLDFAST_FIXTURE: processId } = JSON.parse(environment ?? '') as Record<string, string>;
  worker.shutdown();
  await worker.ended;
  expect(await waitUntilGone(Number(processId), 240_000)).toBe(true);
});
