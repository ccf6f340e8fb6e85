import { expect, test } from 'vitest';
import { load, problemsOf } from './support/written-configuration.ts';

test('an MCP server without an address, with two, with options of the other kind, and an agent that names another one', async () => {
  const written = `mcpServers:
  none: {}
  two: { command: x, url: "http://h" }
  far: { url: "http://h", variables: [KEY] }
agents: { a: { mcp: [fra__read] } }
`;
  expect(await problemsOf(written)).toEqual([
    '2:3 mcpServers.none needs either command, for a program, or url, for a server elsewhere',
    '3:3 mcpServers.two needs either command, for a program, or url, for a server elsewhere',
    '4:27 mcpServers.far.variables has no effect on a server at an address',
    '5:22 agents.a.mcp[0] is "fra__read", and there is no MCP server fra; did you mean far? (there are: none, two, far; they are named under mcpServers)',
  ]);
});

test('a wrong MCP server that is given in code is refused too', async () => {
  await expect(load(null, { mcpServers: { a__b: { command: 'x' } } })).rejects.toMatchObject({
    code: 'configuration_invalid',
  });
});
