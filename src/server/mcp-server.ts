import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { clientError, HoldfastClientError } from '../client/errors.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { MCP_TOOLS } from './mcp-tools.ts';
import type { McpTool } from './mcp-tools.ts';

/** Who calls the tools. */
export interface McpCaller {
  /** As which the caller decides. */
  readonly name?: string | undefined;
  /** Runs a tool. @throws RequestError for what the caller may not do */
  admit<Result>(
    scope: McpTool['scope'],
    given: Readonly<Record<string, unknown>>,
    run: () => Promise<Result>,
  ): Promise<Result>;
  /** What the caller reads of an error. */
  explain(error: unknown): string;
}

/** The user of this machine. */
const ANYBODY: McpCaller = {
  admit: (_scope, _given, run) => run(),
  explain(thrown) {
    const error = clientError(thrown);
    return error instanceof HoldfastClientError ? `${error.code}: ${error.message}` : `internal: ${String(error)}`;
  },
};

/** Serves the client's methods as tools of the Model Context Protocol, over whatever transport it is connected to. */
export function createMcpServer(client: Holdfast, version: string, caller = ANYBODY): McpServer {
  const server = new McpServer(
    { name: 'holdfast', title: 'Holdfast', version },
    { instructions: 'Agents that work for hours and survive crashes: start a task, wait for it, read what it found.' },
  );
  for (const [name, tool] of Object.entries<McpTool>(MCP_TOOLS)) {
    const { title, description, input, output, scope } = tool;
    const isRead = scope === 'read';
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: z.strictObject(input),
        outputSchema: z.object(output),
        annotations: {
          readOnlyHint: isRead,
          idempotentHint: isRead,
          // A call that is approved acts with the rights of its agent.
          destructiveHint: scope === 'decide',
          openWorldHint: !isRead,
        },
      },
      async (given, { signal }): Promise<CallToolResult> => {
        try {
          const run = () => tool.run(client, given, { signal, decidedBy: caller.name });
          const result = await caller.admit(scope, given, run);
          return { structuredContent: result, content: [{ type: 'text', text: JSON.stringify(result) }] };
        } catch (error) {
          return { isError: true, content: [{ type: 'text', text: caller.explain(error) }] };
        }
      },
    );
  }
  return server;
}
