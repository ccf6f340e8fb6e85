/** All options of `holdfast.yaml`. `docs/configuration.md` is generated from the descriptions here. */
import { z } from 'zod';
import { policyChanges } from '../../context/policy/change-policy.ts';
import { COMMAND_VARIABLES } from '../../tools/process/child-environment.ts';
import { DECISION_EXPIRES_AFTER_SECONDS } from '../../turn/approval-rules.ts';
import { embeddingOptions, modelName } from './model-options.ts';
import { keyOptions, variableName } from './key-options.ts';
import { mcpServersOption } from '../mcp-options.ts';
import { hostingOptions, outputOption, requestOptions, timeoutOptions } from './call-options.ts';
import { providerLimits, turnLimits } from './limit-options.ts';
import { DEFAULT_AGENT, DEFAULT_MEMORY } from '../default-agent.ts';
import { retentionSchema } from './retention-options.ts';
import { serverSchema } from './server-options.ts';

/** Servers are set up anew, and vendors raise their limits. Days. */
export const FORGET_AFTER_DAYS = 30;

const positive = z.number().int().positive();
const price = z.number().nonnegative().nullable().optional();

const ADDRESS = /^[^\s:/]+:\d{1,5}$/;

const prices = z.strictObject({
  input: price.meta({ description: 'Input that no cache held.', unit: 'dollars per million tokens' }),
  output: price.meta({ description: 'Output.', unit: 'dollars per million tokens' }),
  cacheRead: price.meta({
    description: 'Input read from the cache.',
    unit: 'dollars per million tokens',
    defaultText: "the built-in table's, else `input`",
  }),
  cacheWrite: price.meta({
    description: 'Input written to the cache.',
    unit: 'dollars per million tokens',
    defaultText: "the built-in table's, else `input`",
  }),
});

const modelOptions = z.strictObject({
  window: positive.optional().meta({
    description: 'Context window.',
    unit: 'tokens',
    defaultText: "the built-in table's; 128,000 for an unknown model",
  }),
  maximumInput: positive.optional().meta({
    description: 'Largest input, where the vendor caps it below the window.',
    unit: 'tokens',
    defaultText: "the built-in table's",
  }),
  maximumOutput: positive.optional().meta({
    description: 'Longest answer.',
    unit: 'tokens',
    defaultText: "the built-in table's; 8,192 for an unknown model",
  }),
  prices: prices
    .optional()
    .meta({ description: 'What the model costs; `null` for unknown.', defaultText: "the built-in table's" }),
  policy: policyChanges.optional().meta({
    description: 'Changes of the preset for every agent on this model; options as under `agents.<name>.policy`.',
    describedElsewhere: true,
  }),
});

const providerOptions = z.strictObject({
  protocol: z.enum(['anthropic', 'chat', 'responses']).optional().meta({
    description:
      'How the server is spoken to: Anthropic Messages, OpenAI Chat Completions (all compatible servers), or OpenAI Responses.',
    defaultText: 'required for a provider of your own',
  }),
  baseUrl: z
    .string()
    .regex(/^https?:\/\/\S+$/, 'must be an http or https address')
    .optional()
    .meta({
      description: "Address before the protocol's own paths, like `http://localhost:8000/v1`.",
      defaultText: 'required for a provider of your own',
    }),
  ...keyOptions,
  ...hostingOptions,
  ...timeoutOptions,
  limits: providerLimits,
});

export const agentOptions = z.strictObject({
  model: modelName.optional().meta({ description: 'As `provider/model`.', defaultText: '`defaultModel`' }),
  fallbacks: z.array(modelName).min(1).max(8).optional().meta({
    description:
      "Models that take over one after another, as `provider/model`: when the model before refused a call for good, failed every try, or would keep the turn waiting for more than five minutes. The turn goes on with the next one, compacted to its window where that is smaller; the next turn begins with the agent's own again.",
    defaultText: 'none: the turn ends as `model_failed`',
  }),
  instructions: z.string().min(1).optional().meta({
    description: 'What the agent is and how it works: the beginning of the system prompt.',
    defaultText: 'a general assistant that works in the workspace',
  }),
  rules: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: 'Rules that stand verbatim in every request, whatever is compacted.', defaultText: 'none' }),
  skills: z
    .record(z.string().min(1), z.string().min(1))
    .optional()
    .meta({ description: 'Instructions for kinds of work, by name; part of every request.', defaultText: 'none' }),
  variables: z.record(z.string().min(1), z.string()).optional().meta({
    description: 'Values that the agent may need, by name; shown by presets whose system prompt has named blocks.',
    defaultText: 'none',
  }),
  tools: z
    .array(z.string())
    .optional()
    .meta({
      description: 'Names of the tools that the agent may use, built-in ones or your own.',
      defaultText: DEFAULT_AGENT.tools.map((name) => `\`${name}\``).join(', '),
    }),
  mcp: z.array(z.string().min(1)).optional().meta({
    description:
      'MCP servers of `mcpServers` whose tools the agent may use besides `tools`: the name of a server for all of them, or single ones as `server__tool`; `*` stands for any characters.',
    defaultText: 'none',
  }),
  allowCommands: z.boolean().optional().meta({
    description:
      'Allows `run_command`, which is not confined to the workspace: a command can do whatever the user of the worker can. Without `tools` of its own, the agent then has it too; otherwise name it there as well.',
    defaultText: '`false`',
  }),
  approvals: z
    .strictObject({
      rules: z
        .array(
          z.union([
            z.string().min(1),
            z.strictObject({
              tool: z.string().min(1),
              when: z.record(z.string().min(1), z.string()).optional(),
            }),
          ]),
        )
        .optional()
        .meta({
          description:
            'Which tool calls ask: a name of a tool, or `{ tool, when }` with a pattern for each argument named under `when`. `*` stands for any characters in names and patterns. A denial stops a tool, not a purpose: an agent with `run_command` can reach the same end by another command.',
          defaultText: 'none; tools of your own may ask by `approval` in `defineTool`',
        }),
      expiresAfter: positive
        .max(2_592_000)
        .optional()
        .meta({
          description:
            'How long a turn waits for a decision or an answer; then the model is told that nobody decided, and goes on.',
          unit: 'seconds',
          defaultText: `${DECISION_EXPIRES_AFTER_SECONDS}`,
        }),
    })
    .optional()
    .meta({ description: 'Tool calls that a person must allow before they run.' }),
  preset: z.string().optional().meta({ description: 'How the conversation is compacted.', defaultText: '`default`' }),
  policy: policyChanges
    .optional()
    .meta({ description: 'Changes of the preset. What is not given stays as the preset has it; `null` means none.' }),
  request: requestOptions.optional().meta({ description: 'What is asked of the vendor with each model call.' }),
  output: outputOption.optional(),
  limits: turnLimits,
  memory: z
    .union([
      z.boolean(),
      z.strictObject({
        user: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .meta({
            description:
              'Name of the user whose memories these are; agents that name the same one share them. A conversation may have another (`holdfast start --user`).',
            defaultText: `\`${DEFAULT_MEMORY.user}\``,
          }),
        tokens: positive.optional().meta({
          description:
            'Most that the notes of memories take of a request together, and never more than 5 % of the input budget.',
          unit: 'tokens',
          defaultText: `${DEFAULT_MEMORY.tokens}`,
        }),
      }),
    ])
    .optional()
    .meta({
      description:
        'Memories across conversations: the tools `remember` and `forget`, and a note with those that have to do with the task before each turn and after each compaction. `true` for the defaults. With `tools` of its own, the agent needs the two tools named there.',
      defaultText: '`false`',
    }),
  workspace: z.string().min(1).optional().meta({
    description: 'Directory whose files the agent may read and write, relative to the file.',
    defaultText: 'the directory of the file',
  }),
});

export const configurationOptions = z.strictObject({
  defaultModel: modelName.optional().meta({
    description: 'Model of every agent that names none.',
    defaultText: '`anthropic/claude-opus-5-5` or `openai/gpt-6.1-sol` if their key is set, else `simulator/sim-32k`',
  }),
  agents: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"'), agentOptions)
    .optional()
    .meta({ description: 'Agents by name. `default` exists without being named here.' }),
  providers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"'),
      providerOptions,
    )
    .optional()
    .meta({
      description:
        'Model servers by name: your own, or changes of the built-in ones: `anthropic`, `openai`, `openrouter`, `google`, `groq`, `mistral`, `deepseek`, `xai`, `together`, `fireworks`, `vllm`, `llama.cpp`, `ollama`, `lm-studio`, `openai-compatible` and the simulator.',
    }),
  models: z
    .record(modelName, modelOptions)
    .optional()
    .meta({ description: 'What to know of a model, by `provider/model`.' }),
  mcpServers: mcpServersOption,
  learnedWindows: z
    .strictObject({
      forgetAfterDays: positive
        .max(3_650)
        .optional()
        .meta({
          description:
            'How long a window, or a cap on messages, images or files, is believed that a server named when it refused a request. Shown by `holdfast model list`.',
          unit: 'days',
          defaultText: `${FORGET_AFTER_DAYS}`,
        }),
    })
    .optional()
    .meta({ description: 'Context windows and caps that errors of servers named.' }),
  embeddings: embeddingOptions.optional().meta({
    description:
      'Search by meaning beside search by words, where Postgres has pgvector. Upkeep sends the text of every passage to this model, and each search its query.',
    defaultText: 'search by words alone',
  }),
  commandVariables: z
    .array(variableName)
    .optional()
    .meta({
      description: `Names of variables of the worker's environment that commands of \`run_command\` get besides ${COMMAND_VARIABLES.join(', ')} and LC_*. One that holds a provider's key is never passed on.`,
      defaultText: 'none',
    }),
  retention: retentionSchema.optional().meta({
    description:
      'What upkeep deletes for good, as `holdfast delete` does; looked at every ten minutes. Conversations with an open turn or a waiting message stay.',
  }),
  server: serverSchema.optional().meta({ description: 'What `holdfast server` allows. Read when it starts.' }),
  database: z
    .strictObject({
      url: z
        .string()
        .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
        .optional()
        .meta({
          description: 'Address of Postgres, without a password. `DATABASE_URL` wins over it and may hold one.',
          defaultText: "the local stack's",
        }),
      listenUrl: z
        .string()
        .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
        .optional()
        .meta({
          description:
            'The same database without a pooler in between, for notifications, without a password. `DATABASE_LISTEN_URL` wins over it.',
          defaultText: '`url`',
        }),
    })
    .optional()
    .meta({ description: 'Where everything is stored.' }),
  temporal: z
    .strictObject({
      address: z.string().regex(ADDRESS, 'must be host:port').optional().meta({
        description: 'Address of Temporal, `host:port`. `TEMPORAL_ADDRESS` wins over it.',
        defaultText: "the local stack's",
      }),
      namespace: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Namespace. `TEMPORAL_NAMESPACE` wins over it.', defaultText: '`default`' }),
    })
    .optional()
    .meta({ description: 'Where turns run.' }),
});

export type AgentOptions = z.output<typeof agentOptions>;
export type ModelOptions = z.output<typeof modelOptions>;
export type ProviderOptions = z.output<typeof providerOptions>;
export type ConfigurationOptions = z.output<typeof configurationOptions>;
