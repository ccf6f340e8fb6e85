import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { selectAgent } from '../../src/config/configuration.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { startMcpServers } from '../../src/worker/mcp-servers.ts';
import { load } from '../config/support/written-configuration.ts';

const fixture = fileURLToPath(new URL('../tools/support/mcp-fixture.mjs', import.meta.url));
const SERVERS = `
mcpServers:
  bad: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(fixture)}], variables: [FIXTURE_KEY] }
`;

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
