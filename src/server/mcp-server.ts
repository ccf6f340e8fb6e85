import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { clientError, HoldfastClientError } from '../client/errors.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { MCP_TOOLS } from './mcp-tools.ts';
import type { McpTool } from './mcp-tools.ts';
import type { ProblemCode } from './problem.ts';

/** What to do by the tools, where it is something else than over HTTP or on the command line. */
export const NEXT_BY_TOOLS: Readonly<Record<string, string | undefined>> = {
  conversation_not_found: 'Use a conversation_id that a tool returned.',
  entry_not_found: 'Use an entry_id that recall_search or list_summaries returned.',
  message_id_reused: 'Call again with another message_id or start_key.',
  decision_not_found: 'list_waiting shows what waits.',
  decision_ambiguous: 'Name one of the waiting calls in `call`.',
  decision_stale: 'get_answer shows how things stand.',
  decision_id_reused: 'Call again with another decision_id.',
  too_many_waiting: 'Wait until a worker has taken some of the messages.',
  too_many_turns: 'Wait until turns have ended.',
  cost_limit_reached: 'Wait, or let the operator raise the limit of the key.',
  scope_missing: 'Ask for a key with that scope.',
  database_busy: 'Call again.',
} satisfies Partial<Record<ProblemCode, string>>;

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
    if (!(error instanceof HoldfastClientError)) return `internal: ${String(error)}`;
    const { code, what, next } = error;
    return `${code}: ${what}. ${NEXT_BY_TOOLS[code] ?? next}`;
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
