import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { openMcpConnection } from '../../src/tools/mcp/connection.ts';
import type { McpConnection } from '../../src/tools/mcp/connection.ts';
import type { McpServer } from '../../src/tools/mcp/transport.ts';
import { listMcpTools, mcpToolName } from '../../src/tools/mcp/mcp-tools.ts';
import { toolSchema } from '../../src/tools/runtime/tool-input.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { call, type CallOptions } from './support/tool-context.ts';

const fixture = fileURLToPath(new URL('support/mcp-fixture.mjs', import.meta.url));

let server: McpServer;
let connection: McpConnection;
let tools: readonly ToolDefinition[];

beforeAll(async () => {
  const { mcpServers } = loadConfiguration({
    directory: '/',
    environment: { ...process.env, FIXTURE_KEY: 'a-key-that-is-long', ANTHROPIC_API_KEY: 'sk-another-key' },
    mcpServers: {
      fixture: {
        command: process.execPath,
        args: [fixture],
        variables: ['FIXTURE_KEY'],
        env: { MODE: 'test' },
        effects: { die: 'once', parts: 'none', hold_none: 'once' },
      },
    },
  });
  const [first] = mcpServers;
  if (first === undefined) throw new Error('no server');
  server = first;
  connection = openMcpConnection(server);
  tools = await listMcpTools(server, connection);
});

afterAll(async () => connection.close());

function toolNamed(name: string): ToolDefinition {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

function openWith(option: string): McpConnection {
  const { address } = server;
  if (!('command' in address)) throw new Error('a program');
  return openMcpConnection({ ...server, address: { ...address, args: [fixture, option] } });
}

const callTool = async (name: string, options: CallOptions = {}) => call(toolNamed(`fixture__${name}`), options);

describe('the tools of an MCP server', () => {
  test('are read from all pages, named after the server and shown with their schema', () => {
    expect(tools).toHaveLength(18);
    expect(toolSchema(toolNamed('fixture__echo'))).toEqual({
      name: 'fixture__echo',
      description: 'Does echo.',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string', description: 'What comes back.' } },
        required: ['text'],
        additionalProperties: true,
      },
    });
  });

  test('are refused, with what is wrong, where a schema is none', async () => {
    const lying = openWith('--lies');
    await expect(listMcpTools(server, lying)).rejects.toMatchObject({
      code: 'mcp_result_invalid',
      message: expect.stringContaining('inputSchema.type'),
    });
    await lying.close();
  });

  test('have a name that providers take, and another one than a similar tool', () => {
    const names = ['write/now.at-once', 'write_now.at-once', 'x'.repeat(80), `${'x'.repeat(79)}y`].map((name) =>
      mcpToolName('fixture', name),
    );
    for (const name of names) expect(name).toMatch(/^fixture__[A-Za-z0-9_-]{1,55}$/);
    expect(new Set(names).size).toBe(4);
    expect(tools.map(({ name }) => name)).toContain(names[0]);
  });

  test('have the effect that the configuration says, else the annotations, and act once without either', async () => {
    const effectsOf = (...names: string[]) => names.map((name) => toolNamed(`fixture__${name}`).effect);
    expect(effectsOf('echo', 'put', 'flood')).toEqual(['none', 'idempotent', 'once']);
    expect(effectsOf('die', 'parts', 'hold_none')).toEqual(['once', 'none', 'once']);
    await expect(listMcpTools({ ...server, effects: new Map([['ehco', 'once']]) }, connection)).rejects.toMatchObject({
      code: 'mcp_result_invalid',
      message: expect.stringContaining('`effects` names the tool ehco, which it does not list'),
    });
  });
});

describe('a call of an MCP tool', () => {
  test('returns texts, pictures by what they are, and a note of what no model reads', async () => {
    const { content, isError } = await callTool('parts');
    expect(isError).toBe(true);
    expect(content.map(({ type }) => type)).toEqual(['text', 'image']);
    expect(content[1]).toMatchObject({ mediaType: 'image/png', width: 1, height: 1 });
    expect(content[0]).toHaveProperty(
      'text',
      expect.stringMatching(
        /see[^]*image of type image\/png, 10 bytes[^]*audio[^]*report: file:\/\/\/report.md[^]*remember/,
      ),
    );
  });

  test('returns structured content where there is no text of it', async () => {
    expect((await callTool('structured')).text).toBe('{"degrees":21}');
  });

  test('gives the program the named variables and no key of the worker', async () => {
    const environment: unknown = JSON.parse((await callTool('environment')).text);
    expect(environment).toMatchObject({ FIXTURE_KEY: 'a-key-that-is-long', MODE: 'test', PATH: process.env['PATH'] });
    expect(environment).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  test('refuses to sample and to ask the user, and says why', async () => {
    const { text } = await callTool('sample');
    expect(text).toMatch(/Holdfast refuses sampling\/createMessage.*Holdfast refuses elicitation\/create/);
  });

  test('that is answered twice has the first answer, and the next call its own', async () => {
    expect((await callTool('twice')).text).toBe('first');
    expect((await callTool('echo', { input: { text: 'third' } })).text).toBe('third');
  });

  test('that is never answered ends with its signal', async () => {
    const stop = new AbortController();
    const running = callTool('never', { context: { signal: stop.signal } });
    stop.abort();
    expect((await running).ending).toBe('aborted');
    expect((await callTool('put')).text).toBe('put');
  });

  test('survives a flooded log and output that is no message', async () => {
    expect((await callTool('flood')).text).toBe('flooded');
  });

  test('whose result is none says that it ran', async () => {
    const { ending, text } = await callTool('nonsense');
    expect(ending).toBe('tool_failed');
    expect(text).toMatch(/ran the call, and its result cannot be read: .*at content/su);
  });

  test.each(['remove', 'change'])(
    'of a tool that the server %ss under way is refused, and its schema stays',
    async (how) => {
      const before = toolSchema(toolNamed('fixture__echo'));
      await callTool(`${how}_echo`);
      const { ending, text } = await callTool('echo', { input: { text: 'hi' } });
      expect([ending, text]).toEqual(['tool_failed', expect.stringContaining('refused the call: MCP error -32602')]);
      expect(toolSchema(toolNamed('fixture__echo'))).toEqual(before);
      // It forgets that as it is started again.
      await callTool('die');
    },
  );

  test('during which the server dies has an unknown outcome, and the next one starts the server again', async () => {
    const { ending, text } = await callTool('die');
    expect(ending).toBe('outcome_unknown');
    expect(text).toContain('it may have taken effect or not');
    expect((await callTool('echo', { input: { text: 'again' } })).text).toBe('again');
  });

  test('that is answered with 200 MB has an unknown outcome, and nothing else is lost', async () => {
    const { ending, text } = await callTool('huge');
    expect(ending).toBe('outcome_unknown');
    expect(text).toContain('more than 10 MiB');
    expect((await callTool('echo', { input: { text: 'small' } })).text).toBe('small');
  });

  test('does not run where the server does not start, and shows the end of its log', async () => {
    const broken = openWith('--broken');
    await expect(listMcpTools(server, broken)).rejects.toMatchObject({
      code: 'mcp_unavailable',
      message: expect.stringContaining('It wrote: cannot read a-key-that-is-long'),
    });
    await broken.close();
  });
});
