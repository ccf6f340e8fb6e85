import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { selectAgent } from '../../src/config/configuration.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { waitUntilGone } from '../../src/local/process-signals.ts';
import { startMcpServers } from '../../src/worker/mcp-servers.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { load } from '../config/support/written-configuration.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const fixture = fileURLToPath(new URL('../tools/support/mcp-fixture.mjs', import.meta.url));
const SERVERS = `
mcpServers:
  bad: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(fixture)}], variables: [FIXTURE_KEY] }
`;

let worker: RunningWorker;

const harness = useTurnHarness({
  environment: { FIXTURE_KEY: 'a-key-that-is-long' },
  configurationFile: SERVERS,
  agent: {
    tools: ['update_plan'],
    mcp: ['bad__p*', 'bad__die', 'bad__environment'],
    approvals: { rules: ['bad__put'] },
  },
});

beforeAll(async () => {
  worker = await harness.startWorker();
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
  const turn = await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 60_000 });
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
  expect(await waitUntilGone(Number(processId), 10_000)).toBe(true);
});

test('an agent has the tools that it names of a server, also under another preset', async () => {
  const written = `${SERVERS}agents: { wide: { mcp: [bad] }, one: { tools: [read_file], mcp: [bad__put] } }`;
  const servers = await startMcpServers(await load(written));
  await servers.close();
  const toolsOf = (agent: string, preset: string | null) => selectAgent(servers.configuration, agent, { preset }).tools;
  expect(toolsOf('wide', null).filter((name) => name.startsWith('bad__'))).toHaveLength(servers.tools.length);
  expect(toolsOf('one', null)).toEqual(['read_file', 'bad__put']);
  expect(toolsOf('one', 'pi')).toEqual(['read_file', 'bad__put']);
});

test('a worker does not start without a server or tool that an agent needs, and shows no key in saying so', async () => {
  const broken = loadConfiguration({
    directory: '/',
    environment: { FIXTURE_KEY: 'a-key-that-is-long' },
    mcpServers: { broken: { command: process.execPath, args: [fixture, '--broken'], variables: ['FIXTURE_KEY'] } },
  });
  const agents = broken.agents.map((agent) => ({ ...agent, mcp: ['broken'] }));
  await expect(startMcpServers({ ...broken, agents })).rejects.toMatchObject({
    code: 'mcp_server_failed',
    message: expect.stringMatching(/MCP server broken.*It wrote: cannot read \[masked key\]/),
  });
  await expect(startMcpServers(await load(`${SERVERS}agents: { one: { mcp: [bad__gone] } }`))).rejects.toThrow(
    /agents.one.mcp\[0\] is "bad__gone", which is no tool of an MCP server/,
  );
});
