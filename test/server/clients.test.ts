/** Clients that others wrote: each completes a task with an approval, a compaction and a killed worker. */
import { spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/local/ports.ts';
import { EXECUTABLE } from '../cli/run-cli.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

const AGENT = {
  model: 'simulator/sim-8k',
  tools: ['write_file', 'run_command'],
  allowCommands: true,
  approvals: { rules: ['write_file'] },
};

let harness: ServerHarness;

beforeAll(async () => {
  harness = await startServerHarness({
    agent: AGENT,
    server: { configured: { agents: [{ name: 'default', model: '', preset: '', tools: [] }], presets: [], links: [] } },
  });
});
afterAll(async () => harness.stop());

const CLIENTS: Readonly<Record<string, (task: string) => Promise<string>>> = {
  async acp(task) {
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, ...harness.environment };
    const agent = spawn(process.execPath, [EXECUTABLE, 'acp'], { cwd: harness.workspace, env });
    agent.stderr.resume();
    onTestFinished(() => void agent.kill('SIGKILL'));
    const said = { agent_message_chunk: '', agent_thought_chunk: '' };
    const output = Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>;
    const editor = client({ name: 'editor' })
      .onNotification(methods.client.session.update, ({ params: { update } }) => {
        if (update.sessionUpdate !== 'agent_message_chunk' && update.sessionUpdate !== 'agent_thought_chunk') return;
        if (update.content.type === 'text') said[update.sessionUpdate] += update.content.text;
      })
      .onRequest(methods.client.session.requestPermission, () => ({
        outcome: { outcome: 'selected', optionId: 'approve' },
      }))
      .connect(ndJsonStream(Writable.toWeb(agent.stdin), output));
    await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    const { session } = methods.agent;
    const { sessionId } = await editor.agent.request(session.new, { cwd: harness.workspace, mcpServers: [] });
    await editor.agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text: task }] });
    // This editor does not say that it shows compactions.
    expect(said.agent_thought_chunk).toMatch(/The context was compacted from [\d,]+ to [\d,]+ tokens/);
    return said.agent_message_chunk;
  },

  async openai(task) {
    const openai = new OpenAI({ baseURL: `${harness.server.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const stream = await openai.responses.create({ model: 'default', input: task, stream: true });
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.done') ({ text } = event);
    return text;
  },

  async aiSdk(task) {
    const provider = createOpenResponses({ name: 'holdfast', url: `${harness.server.url}/v1/responses` });
    return streamText({ model: provider('default'), prompt: task, maxRetries: 0 }).text;
  },

  async mcp(task) {
    const assistant = new Client({ name: 'assistant', version: '1' });
    onTestFinished(() => assistant.close());
    await assistant.connect(new StreamableHTTPClientTransport(new URL(`${harness.server.url}/mcp`)));
    const call = async (name: string, given: object): Promise<Record<string, unknown>> => {
      const { structuredContent } = await assistant.callTool({ name, arguments: { ...given } });
      return { ...(structuredContent as object) };
    };
    const { conversation_id, message_id } = await call('start_task', { task });
    for (;;) {
      const { state, answer } = await call('wait_for_turn', { conversation_id, message_id });
      if (state === 'ended') return String(answer);
      if (state === 'waiting_for_approval') await call('decide', { conversation_id, decision: 'approve' });
    }
  },
};

const taskOf = (name: string): string =>
  [
    `Call write_file with {"path": "${name}.txt", "content": "x"}`,
    ...Array.from({ length: 6 }, () => 'Call run_command with {"command": "seq 1 1500"}'),
    `Call run_command with {"command": "touch ${name}.started; sleep 60"}`,
    'Say all done',
  ].join('\n');

test(
  'an ACP client, the openai SDK, the AI SDK and an MCP client, and the worker shows its metrics',
  { timeout: 180_000 },
  async () => {
    const { client, workspace } = harness;
    await writeFile(join(workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: AGENT } }));
    const port = await freePort();
    const worker = await startWorkerProcess(harness, {
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    });
    const names = Object.keys(CLIENTS);
    const answers = Promise.all(names.map(async (name) => CLIENTS[name]?.(taskOf(name))));
    const isRunning = waitUntil('all commands run', async () => {
      // Open Responses has no word for an approval: its users decide elsewhere.
      for (const { conversationId, call, arguments: json } of (await client.decisions.listWaiting()).items) {
        if (/openai|aiSdk/.test(json)) await client.decisions.approve({ conversationId, call }).catch(() => undefined);
      }
      const files = await readdir(workspace);
      return names.every((name) => files.includes(`${name}.started`));
    });
    await Promise.race([isRunning, answers.then(() => expect.unreachable('a task ended early'))]);
    const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const name of ['holdfast_compactions_total', 'holdfast_event_loop_delay', 'holdfast_database_', 'temporal_']) {
      expect(shown).toContain(name);
    }
    worker.kill('SIGKILL');
    await harness.startWorker();
    for (const answer of await answers) expect(answer).toMatch(/all done\s*$/);
    const { items } = await client.conversation.list();
    expect(items.map(({ turn }) => [turn?.outcome, (turn?.compactions ?? 0) > 0])).toEqual(
      names.map(() => ['completed', true]),
    );
    const lost = await harness.database`select 1 from holdfast.tool_calls where outcome = 'outcome_unknown'`;
    expect(lost).toHaveLength(names.length);
  },
);
