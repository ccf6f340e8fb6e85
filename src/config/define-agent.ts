import { resolve } from 'node:path';
import { z } from 'zod';
import type { PolicyChanges } from '../context/policy/change-policy.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import type { CompactionPolicyInput } from '../context/policy/policy.ts';
import { RUN_COMMAND } from '../tools/runtime/names.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import type { ApprovalRule } from '../turn/approval-rules.ts';
import { fallbackProblems } from './check/check-fallbacks.ts';
import { policyWithChanges } from './check/check-policies.ts';
import type { DefinedAgent } from './definitions.ts';
import { describeOptionProblems, optionPath } from './check/describe-option-problem.ts';
import { invalidConfiguration } from './errors.ts';
import { agentOptions, configurationOptions } from './options/options.ts';
import type { RequestSettings } from './options/call-options.ts';
import { checkPreset, presetNamed, PRESETS } from './presets.ts';
import { resolveAgent } from './resolve-agent.ts';

/** An agent defined in code: the options of `agents.<name>` in `holdfast.yaml`, with values where the file has names. */
export interface AgentInput {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** `provider/model`. Default: the worker's, from `HOLDFAST_MODEL`, `defaultModel` of `holdfast.yaml` or the key that is set. */
  readonly model?: string;
  /** Models that take over, in order, when the one before fails for good or asks for waits of over five minutes. Default: none. */
  readonly fallbacks?: readonly string[];
  /** Beginning of the system prompt. Default: a general assistant that works in the workspace. */
  readonly instructions?: string;
  /** Rules that are word for word in every request. Default: none. */
  readonly rules?: readonly string[];
  /** Named instructions, all in every request. Default: none. */
  readonly skills?: Readonly<Record<string, string>>;
  /** Named values. Only presets with `namedBlocks` show them, such as `wolffish`. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Tools or their names. Default: the built-in tools that the agent may use. */
  readonly tools?: readonly (string | ToolDefinition)[];
  /** Names of MCP servers, or single tools as `server__tool`. Default: none. */
  readonly mcp?: readonly string[];
  /** Allows `run_command`, which can leave the workspace. Default: false. */
  readonly allowCommands?: boolean;
  /** Tool calls that a person must allow first. Default: none. */
  readonly approvals?: {
    /** Names of tools, or a tool with patterns of its arguments. `*` matches any characters. */
    readonly rules?: readonly (string | ApprovalRule)[];
    /** Seconds until an unanswered call counts as denied. Default: 86,400. */
    readonly expiresAfter?: number;
  };
  /** Name of a built-in preset, or a policy of your own as a value. Default: `default`. */
  readonly preset?: string | CompactionPolicyInput;
  /** Changes of the preset, as `agents.policy` in `holdfast.yaml`. Default: none. */
  readonly policy?: PolicyChanges;
  /** Options of each model call, as `agents.request` in `holdfast.yaml`. Default: the vendor's. */
  readonly request?: RequestSettings;
  /** What a turn may use, then it ends as `budget_exhausted`. Without a default: no limit. */
  readonly limits?: {
    /** Model calls of one turn. Default: 500. */
    readonly steps?: number;
    /** Tool calls of one turn. */
    readonly toolCalls?: number;
    /** Tokens of one turn that the model reads, cached ones included. */
    readonly inputTokens?: number;
    /** Tokens of one turn that the model writes. */
    readonly outputTokens?: number;
    /** Dollars of one turn. */
    readonly cost?: number;
    /** Seconds of one turn, waits for people left out. */
    readonly wallTime?: number;
    /** Seconds without an answer of a model, a tool result, a message or a decision. */
    readonly idleTime?: number;
    /** Part of a limit at which the model gets a note. Default: 0.8. */
    readonly noteAt?: number;
    /** The same limits for all turns of the conversation together. */
    readonly conversation?: Partial<ConversationCounts>;
    /** Equal results of one tool call, if no other call has a new result in between. Default: 10. */
    readonly repeatedCalls?: number;
    /** Compactions in a row without new work in between. After mere lookups one counts half. Default: 2. */
    readonly compactionsWithoutProgress?: number;
    /** Cut answers that are continued in a row without a tool result. Default: 3. */
    readonly continuations?: number;
  };
  /** Form of the final answer. `task.result()` returns it as `output`. Default: free text. */
  readonly output?: z.ZodObject;
  /** Memories across conversations: `true`, or their user and the tokens that their note may take. Default: none. */
  readonly memory?: boolean | { readonly user?: string; readonly tokens?: number };
  /** Folder of the file tools, relative to the working directory. Default: the working directory. */
  readonly workspace?: string;
}

/**
 * Defines an agent in code. Pass it to `createWorker`, and your own tools too.
 * @throws `ConfigurationError` that names every wrong option
 */
export function defineAgent(input: AgentInput): DefinedAgent {
  const { name, preset = 'default', tools, workspace = '.', output, ...rest } = input;
  const presetName = typeof preset === 'string' ? preset : preset.name;
  const options = {
    ...rest,
    preset: presetName,
    ...definedOf({
      output: output && z.toJSONSchema(output),
      tools: tools?.map((tool) => (typeof tool === 'string' ? tool : tool.name)),
    }),
  };
  // A policy given as a value may be called like a preset.
  const presets = typeof preset === 'string' ? PRESETS : { [preset.name]: checkPreset(preset) };
  const parsed = agentOptions.safeParse(options);
  const found = parsed.success
    ? [
        ...fallbackProblems(name, parsed.data, {}, input.model ?? ''),
        ...policyWithChanges(presetNamed(presets, presetName), parsed.data.policy, ['agents', name, 'policy']).problems,
      ].map(({ code, path, message }) => ({ code, path: path.slice(2), message }))
    : describeOptionProblems(parsed.error.issues, {
        value: options,
        below: ['agents', name],
        options: configurationOptions,
      });
  const problems = found.map(({ code, path, message }) => ({
    code,
    option: `agent ${name}: ${optionPath(path)}`,
    message,
  }));
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const message = `is ${JSON.stringify(name)}: it must be 1 to 64 letters, digits, "_" or "-"`;
    problems.push({ code: 'wrong_value', option: 'name of the agent', message });
  }
  if (options.tools?.includes(RUN_COMMAND) === true && input.allowCommands !== true) {
    const message = `names ${RUN_COMMAND}, which needs allowCommands: true, because a command is not confined to the workspace`;
    problems.push({ code: 'missing_option', option: `agent ${name}: tools`, message });
  }
  if (!parsed.success || problems.length > 0) throw invalidConfiguration(problems);
  const resolved = resolveAgent(
    { ...parsed.data, model: input.model ?? '' },
    { name, workspace: resolve(workspace), presets, models: {} },
  );
  return { ...resolved, model: input.model ?? null };
}
