/** All options of `holdfast.yaml`. `docs/configuration.md` is generated from the descriptions here. */
import { z } from 'zod';
import { policyChanges } from '../../context/policy/change-policy.ts';
import { COMMAND_VARIABLES } from '../../tools/process/child-environment.ts';
import { DECISION_EXPIRES_AFTER_SECONDS } from '../../turn/approval-rules.ts';
import { connectionOptions } from './connection-options.ts';
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
      'Protocol of the server: Anthropic Messages, OpenAI Chat Completions (all compatible servers) or OpenAI Responses.',
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
  model: modelName.optional().meta({ description: 'The model, as `provider/model`.', defaultText: '`defaultModel`' }),
  fallbacks: z.array(modelName).min(1).max(8).optional().meta({
    description:
      "Models that take over in this order, as `provider/model`. The next one takes over if a model refuses for good, fails every attempt, or asks for waits of over five minutes together. Its smaller window may cause a compaction. The next turn begins with the agent's own model.",
    defaultText: 'none: the turn ends as `model_failed`',
  }),
  instructions: z.string().min(1).optional().meta({
    description: 'What the agent is and how it works. They begin the system prompt.',
    defaultText: 'a general assistant that works in the workspace',
  }),
  rules: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: 'Rules that are in every request word for word.', defaultText: 'none' }),
  skills: z.record(z.string().min(1), z.string().min(1)).optional().meta({
    description: 'Named instructions. All are in every request; none is loaded on demand.',
    defaultText: 'none',
  }),
  variables: z.record(z.string().min(1), z.string()).optional().meta({
    description: 'Values that the agent may need, by name. Only presets with `namedBlocks` show them: `wolffish`.',
    defaultText: 'none',
  }),
  tools: z
    .array(z.string())
    .optional()
    .meta({
      description: 'Tools that the agent may use, built-in ones or your own.',
      defaultText: DEFAULT_AGENT.tools.map((name) => `\`${name}\``).join(', '),
    }),
  mcp: z.array(z.string().min(1)).optional().meta({
    description:
      'Tools of `mcpServers` that the agent may use too. Name a server for all its tools, or single tools as `server__tool`. `*` stands for any characters.',
    defaultText: 'none',
  }),
  allowCommands: z.boolean().optional().meta({
    description:
      'Allows `run_command`. A command is not confined to the workspace and can do whatever the user of the worker can. An agent with a list of `tools` must name it there too.',
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
            'Tool calls that need an approval. A rule is the name of a tool, or `{ tool, when }` with a pattern for each named argument. `*` stands for any characters. A denied agent may reach the same end with another tool, above all with `run_command`.',
          defaultText: 'none; tools of your own may ask by `approval` in `defineTool`',
        }),
      expiresAfter: positive
        .max(2_592_000)
        .optional()
        .meta({
          description:
            'How long a turn waits for a decision or an answer. Then the model learns that nobody decided, and goes on.',
          unit: 'seconds',
          defaultText: `${DECISION_EXPIRES_AFTER_SECONDS}`,
        }),
    })
    .optional()
    .meta({ description: 'Tool calls that a person must allow before they run.' }),
  preset: z
    .string()
    .optional()
    .meta({ description: 'How the conversation is compacted: see docs/presets.md.', defaultText: '`default`' }),
  policy: policyChanges.optional().meta({
    description:
      'Changes of the preset. Options that you leave out stay as the preset has them. The defaults named here are those of the preset `default`.',
  }),
  request: requestOptions.optional().meta({ description: 'What each model call asks of the vendor.' }),
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
              'User whose memories are used. Agents that name the same user share them. A conversation may name another (`holdfast start --user`).',
            defaultText: `\`${DEFAULT_MEMORY.user}\``,
          }),
        tokens: positive.optional().meta({
          description: 'Room for the notes of memories in a request, at most 5 % of the input budget.',
          unit: 'tokens',
          defaultText: `${DEFAULT_MEMORY.tokens}`,
        }),
      }),
    ])
    .optional()
    .meta({
      description:
        'Memories across conversations. The agent gets the tools `remember` and `forget`. A note before each turn and after each compaction holds the memories that suit the task. `true` takes the defaults. An agent with a list of `tools` must name the two tools there.',
      defaultText: '`false`',
    }),
  workspace: z.string().min(1).optional().meta({
    description: 'Folder whose files the agent may read and write.',
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
    .meta({ description: 'Agents by name. The agent `default` exists without an entry.' }),
  providers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"'),
      providerOptions,
    )
    .optional()
    .meta({
      description:
        'Model servers by name: your own, or changes of a built-in one. Built in are `anthropic`, `openai`, `openrouter`, `google`, `groq`, `mistral`, `deepseek` and `xai`. So are `together`, `fireworks`, `vllm`, `llama.cpp`, `ollama`, `lm-studio`, `openai-compatible` and `simulator`.',
    }),
  models: z
    .record(modelName, modelOptions)
    .optional()
    .meta({ description: 'Facts about models, by `provider/model`.' }),
  mcpServers: mcpServersOption,
  modules: z.array(z.string().min(1)).optional().meta({
    description:
      'Files of TypeScript or JavaScript whose exported tools (`defineTool`) and agents (`defineAgent`) the workers of `holdfast dev` and `holdfast worker` serve. A path begins at the directory of this file. Node before 22.18 reads TypeScript with `tsx`, which your project then needs. Refused if a user other than root and the user of the worker owns or may write `holdfast.yaml`.',
    defaultText: 'none',
  }),
  learnedWindows: z
    .strictObject({
      forgetAfterDays: positive
        .max(3_650)
        .optional()
        .meta({
          description:
            'How long Holdfast believes a window or a cap that a server named in a refusal. `holdfast model list` shows them.',
          unit: 'days',
          defaultText: `${FORGET_AFTER_DAYS}`,
        }),
    })
    .optional()
    .meta({ description: 'Context windows and caps that Holdfast learned from errors of servers.' }),
  embeddings: embeddingOptions.optional().meta({
    description:
      'Search by meaning beside search by words. It needs pgvector in Postgres. Holdfast sends the text of every passage and every query to this model.',
    defaultText: 'search by words alone',
  }),
  commandVariables: z
    .array(variableName)
    .optional()
    .meta({
      description: `Variables of the worker's environment that \`run_command\` passes on. It always passes on ${COMMAND_VARIABLES.map((name) => `\`${name}\``).join(', ')} and \`LC_*\`, and never a provider's key.`,
      defaultText: 'none',
    }),
  retention: retentionSchema.optional().meta({
    description:
      'What workers delete for good, as `holdfast delete` does. They look every ten minutes. Conversations with an open turn or a waiting message stay.',
  }),
  server: serverSchema.optional().meta({ description: 'What `holdfast server` allows.' }),
  telemetry: z
    .strictObject({
      content: z.boolean().optional().meta({
        description:
          'Whether traces hold texts: answers, summaries, and tool calls with their results. The same as `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`.',
        defaultText: '`false`',
      }),
    })
    .optional()
    .meta({ description: 'What workers tell an OpenTelemetry collector: see docs/observe.md.' }),
  ...connectionOptions,
});

export type AgentOptions = z.output<typeof agentOptions>;
export type ModelOptions = z.output<typeof modelOptions>;
export type ProviderOptions = z.output<typeof providerOptions>;
export type ConfigurationOptions = z.output<typeof configurationOptions>;
