/** Servers of the Model Context Protocol: what can be wrong with their options, and how they are resolved. */
import { isIP } from 'node:net';
import type { McpServer } from '../tools/mcp/transport.ts';
import { passedOnVariables } from '../tools/process/child-environment.ts';
import { didYouMean } from '../tools/runtime/nearest-name.ts';
import { describeOptionProblems, optionPath } from './check/describe-option-problem.ts';
import type { FoundProblem } from './check/describe-option-problem.ts';
import { given, type Environment } from './environment.ts';
import { ConfigurationError, invalidConfiguration } from './errors.ts';
import { keyOf } from './options/key-options.ts';
import type { KeySurroundings } from './options/key-options.ts';
import { DEFAULT_MCP_TIMEOUT_SECONDS, mcpServersOption } from './mcp-options.ts';
import type { McpServersInput, McpServersOptions } from './mcp-options.ts';
import { configurationOptions } from './options/options.ts';

/** Shorter values of named variables, such as `debug`, are no secrets, and would be masked in every text. Characters. */
const SHORTEST_SECRET = 16;

/** Servers given in code, with the options that they have in the file. @throws ConfigurationError naming every wrong one */
export function checkMcpServers(servers: McpServersInput): McpServersOptions {
  const parsed = mcpServersOption.safeParse(servers);
  const found = parsed.success
    ? mcpProblems(parsed.data ?? {}, {})
    : describeOptionProblems(parsed.error.issues, {
        value: servers,
        below: ['mcpServers'],
        options: configurationOptions,
      });
  const problems = found.map(({ code, path, message }) => ({ code, option: optionPath(path), message }));
  if (!parsed.success || problems.length > 0) throw invalidConfiguration(problems);
  return parsed.data ?? {};
}

/** What an agent names under `mcp`, and the server that it belongs to. */
export function serverNamed(entry: string): string {
  return entry.split('__')[0] ?? entry;
}

/** Everything that is wrong with servers and with what agents name of them. Pure. */
export function mcpProblems(
  servers: McpServersOptions,
  agents: Readonly<Record<string, { readonly mcp?: readonly string[] | undefined }>>,
): FoundProblem[] {
  return [
    ...Object.entries(servers).flatMap(([name, server]) => serverProblems(name, server)),
    ...Object.entries(agents).flatMap(([agent, { mcp = [] }]) =>
      mcp.flatMap((entry, index) => unknownServer(entry, Object.keys(servers), ['agents', agent, 'mcp', index])),
    ),
  ];
}

function serverProblems(name: string, server: McpServersOptions[string]): FoundProblem[] {
  const path = ['mcpServers', name];
  if ((server.command === undefined) === (server.url === undefined)) {
    const code = server.url === undefined ? 'missing_option' : 'contradiction';
    return [{ code, path, message: 'needs either command, for a program, or url, for a server elsewhere' }];
  }
  const ofOther =
    server.url === undefined
      ? (['privateAddress', 'headers', 'apiKeyVariable', 'apiKeyFile', 'apiKeyCommand'] as const)
      : (['args', 'env', 'variables'] as const);
  const kind = server.url === undefined ? 'a program: name its variables under variables' : 'a server at an address';
  return ofOther.flatMap((option): FoundProblem[] =>
    option in server && Reflect.get(server, option) !== undefined
      ? [{ code: 'contradiction', path: [...path, option], message: `has no effect on ${kind}` }]
      : [],
  );
}

function unknownServer(entry: string, names: readonly string[], path: FoundProblem['path']): FoundProblem[] {
  const server = serverNamed(entry);
  if (names.includes(server)) return [];
  const message = `is ${JSON.stringify(entry)}, and there is no MCP server ${server}${didYouMean(server, names)} (there are: ${names.join(', ') || 'none'}; they are named under mcpServers)`;
  return [{ code: 'wrong_value', path, message }];
}

/** Fills defaults in. Values of variables that a server is given are told to `onKey`. */
export function resolveMcpServers(
  servers: McpServersOptions,
  environment: Environment,
  surroundings: KeySurroundings,
): readonly McpServer[] {
  return Object.entries(servers).map(([name, server]) => {
    const { timeoutSeconds = DEFAULT_MCP_TIMEOUT_SECONDS, effects = {} } = server;
    for (const variable of server.variables ?? []) {
      const value = given(environment, variable) ?? '';
      if (value.length >= SHORTEST_SECRET) surroundings.onKey(value);
    }
    const address =
      server.url === undefined
        ? {
            command: server.command ?? '',
            args: server.args ?? [],
            environment: { ...passedOnVariables(environment, server.variables), ...server.env },
            directory: surroundings.directory,
          }
        : {
            url: server.url,
            mayBePrivate: server.privateAddress === true || isAddress(server.url),
            headers: server.headers ?? {},
            key: keyReader(name, server, environment, surroundings),
          };
    return { name, address, effects: new Map(Object.entries(effects)), timeoutMilliseconds: timeoutSeconds * 1_000 };
  });
}

/** Whether an address is named that no DNS decides. */
function isAddress(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/gu, '')) !== 0;
}

function keyReader(
  name: string,
  server: McpServersOptions[string],
  environment: Environment,
  surroundings: KeySurroundings,
): (() => Promise<string>) | null {
  const { apiKeyVariable } = server;
  const { key } = keyOf(`MCP server ${name}`, server, surroundings);
  if (key !== undefined) return async () => key.newest();
  if (apiKeyVariable === undefined) return null;
  const value = given(environment, apiKeyVariable);
  if (value !== undefined) surroundings.onKey(value);
  return async () => {
    if (value !== undefined) return value;
    throw new ConfigurationError('provider_key_missing', `The MCP server ${name} has no key: set ${apiKeyVariable}.`);
  };
}
