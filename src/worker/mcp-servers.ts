import type { Configuration } from '../config/configuration.ts';
import { ConfigurationError, invalidConfiguration, type ConfigurationProblem } from '../config/errors.ts';
import { serverNamed } from '../config/mcp-servers.ts';
import type { McpConnection } from '../tools/mcp/connection.ts';
import type { McpServer } from '../tools/mcp/transport.ts';
import { maskText } from '../tools/runtime/secret-mask.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { fitsPattern } from '../turn/approval-rules.ts';

/** Running MCP servers of a worker. */
export interface McpServers {
  /** Tools of all servers. */
  readonly tools: readonly ToolDefinition[];
  /** The agents with the tools of their servers. */
  readonly configuration: Configuration;
  /** Ends the servers. */
  close(): Promise<void>;
}

interface StartedServer {
  readonly name: string;
  readonly connection: McpConnection;
  readonly tools: readonly ToolDefinition[];
}

/**
 * Starts each server that agents use and lists its tools. A worker without a promised tool would take turns and fail them, so it does not
 * start.
 * @throws ConfigurationError `mcp_server_failed`, or `configuration_invalid` for a tool that no server has
 */
export async function startMcpServers(configuration: Configuration): Promise<McpServers> {
  const named = new Set(configuration.agents.flatMap(({ mcp = [] }) => mcp.map(serverNamed)));
  const used = configuration.mcpServers.filter(({ name }) => named.has(name));
  const starts = await Promise.allSettled(used.map((server) => startServer(server, configuration.secrets)));
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const close = async (): Promise<void> => {
    await Promise.allSettled(started.map(async ({ connection }) => connection.close()));
  };
  try {
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    return { tools: started.flatMap(({ tools }) => tools), configuration: withMcpTools(configuration, started), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startServer(server: McpServer, secrets: readonly string[]): Promise<StartedServer> {
  // Loaded with the first server, because most workers have none.
  const [{ openMcpConnection }, { listMcpTools }] = await Promise.all([
    import('../tools/mcp/connection.ts'),
    import('../tools/mcp/mcp-tools.ts'),
  ]);
  const connection = openMcpConnection(server);
  try {
    return { name: server.name, connection, tools: await listMcpTools(server, connection) };
  } catch (error) {
    await connection.close();
    const reason = maskText(error instanceof Error ? error.message : String(error), secrets);
    throw new ConfigurationError(
      'mcp_server_failed',
      `The worker does not start, because an MCP server of its agents cannot be used. ${reason}`,
      { cause: error },
    );
  }
}

function withMcpTools(configuration: Configuration, servers: readonly StartedServer[]): Configuration {
  const problems: ConfigurationProblem[] = [];
  const agents = configuration.agents.map((agent) => {
    const added = (agent.mcp ?? []).flatMap((entry, index) => {
      const tools = servers.find(({ name }) => name === serverNamed(entry))?.tools ?? [];
      const names = tools.map(({ name }) => name);
      const fitting = entry === serverNamed(entry) ? names : names.filter((name) => fitsPattern(entry, name));
      if (fitting.length === 0) {
        const message = `is ${JSON.stringify(entry)}, which is no tool of an MCP server (there are: ${names.join(', ') || 'none'})`;
        problems.push({ code: 'wrong_value', option: `agents.${agent.name}.mcp[${index}]`, message });
      }
      return fitting;
    });
    return added.length === 0 ? agent : { ...agent, tools: [...new Set([...agent.tools, ...added])] };
  });
  if (problems.length > 0) throw invalidConfiguration(problems);
  // The same for the options that a conversation's own model or preset is applied to.
  const agentOptions = Object.entries(configuration.agentOptions).map(([name, options]) => {
    const agent = agents.find((one) => one.name === name);
    return [name, agent?.mcp === undefined ? options : { ...options, tools: [...agent.tools] }] as const;
  });
  return { ...configuration, agents, agentOptions: Object.fromEntries(agentOptions) };
}
