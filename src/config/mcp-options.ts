/** Options of servers of the Model Context Protocol. */
import { z } from 'zod';
import type { ToolEffect } from '../tools/tool.ts';
import { keyOptions, variableName } from './options/key-options.ts';

export const DEFAULT_MCP_TIMEOUT_SECONDS = 120;
const LONGEST_TIMEOUT_SECONDS = 86_400;

const toolEffect = z.enum(['none', 'idempotent', 'once'] satisfies ToolEffect[]);

const mcpServer = z.strictObject({
  command: z.string().min(1).optional().meta({
    description:
      'Program that each worker starts and talks to over standard input and output. Refused if a user other than root and the user of the worker owns or may write `holdfast.yaml`.',
    defaultText: 'required without `url`',
  }),
  args: z.array(z.string()).optional().meta({ description: 'Arguments of the program.', defaultText: 'none' }),
  env: z.record(z.string().min(1), z.string()).optional().meta({
    description: 'Variables of the program, no secrets.',
    defaultText: 'none',
  }),
  variables: z.array(variableName).optional().meta({
    description:
      "Variables of the worker's environment that are passed on to the program, such as its key. Their values are masked like keys. Beyond them it gets what `run_command` gets.",
    defaultText: 'none',
  }),
  url: z
    .string()
    .regex(/^https?:\/\/\S+$/, 'must be an http or https address')
    .optional()
    .meta({
      description: 'Address of a server that speaks streamable HTTP. A redirect to another server is an error.',
      defaultText: 'required without `command`',
    }),
  privateAddress: z.boolean().optional().meta({
    description:
      'Whether the name in `url` may lead to this machine or a private network. `localhost` and addresses of numbers always may.',
    defaultText: 'false',
  }),
  headers: z.record(z.string().min(1), z.string()).optional().meta({
    description: 'Headers of each request, no secrets. A key is sent as `authorization: Bearer …`.',
    defaultText: 'none',
  }),
  ...keyOptions,
  effects: z.record(z.string().min(1), toolEffect).optional().meta({
    description:
      'Effect of each tool, by the name that the server gives it. After a crash `none` and `idempotent` run again, `once` does not. Say it where hints of the server are missing or wrong.',
    defaultText: 'by hints of the server',
  }),
  timeoutSeconds: z
    .number()
    .int()
    .positive()
    .max(LONGEST_TIMEOUT_SECONDS)
    .optional()
    .meta({
      description: 'Longest duration of one call.',
      unit: 'seconds',
      defaultText: `${DEFAULT_MCP_TIMEOUT_SECONDS}`,
    }),
});

/** No `__`, which divides a server's name from that of its tool. */
export const mcpServersOption = z
  .record(
    z.string().regex(/^(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, 'must be 1 to 32 letters, digits, "-" or single "_"'),
    mcpServer,
  )
  .optional()
  .meta({ description: 'MCP servers by name. An agent uses those that it names under `mcp`.' });

export type McpServersOptions = NonNullable<z.output<typeof mcpServersOption>>;
export type McpServersInput = NonNullable<z.input<typeof mcpServersOption>>;
