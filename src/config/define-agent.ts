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
import type { DefinedAgent } from './definitions.ts';
import { describeOptionProblems, optionPath } from './check/describe-option-problem.ts';
import { invalidConfiguration } from './errors.ts';
import { agentOptions } from './options/options.ts';
import type { RequestSettings } from './options/call-options.ts';
import { checkPreset, PRESETS } from './presets.ts';
import { resolveAgent } from './resolve-agent.ts';

/** An agent defined in code: the options of `agents.<name>` in `holdfast.yaml`, with values where the file has names. */
export interface AgentInput {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** `provider/model`. Default: the worker's, from `HOLDFAST_MODEL`, `defaultModel` of `holdfast.yaml` or the key that is set. */
  readonly model?: string;
  /** Models that take over one after another when the one before failed for good or for more than five minutes. Default: none. */
  readonly fallbacks?: readonly string[];
  /** Beginning of the system prompt. Default: a general assistant that works in the workspace. */
  readonly instructions?: string;
  /** Pinned, verbatim in every request. Default: none. */
  readonly rules?: readonly string[];
  /** Instructions for kinds of work, by name. Default: none. */
  readonly skills?: Readonly<Record<string, string>>;
  /** Values that the agent may need, by name. Default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Tools or their names. Default: tools for files, plan and recall; `run_command` with `allowCommands`, `remember` and `forget` with `memory`. */
  readonly tools?: readonly (string | ToolDefinition)[];
  /** MCP servers of `createWorker` or the file, by name, or single tools of theirs as `server__tool`. Default: none. */
  readonly mcp?: readonly string[];
  /** Allows `run_command`, which is not confined to the workspace. Default: false. */
  readonly allowCommands?: boolean;
  /** Tool calls that a person must allow first. Default: none. */
  readonly approvals?: {
    /** Names of tools, or a tool with patterns of its arguments; `*` stands for any characters. */
    readonly rules?: readonly (string | ApprovalRule)[];
    /** Seconds. Default: 86,400. */
    readonly expiresAfter?: number;
  };
  /** Name of a built-in preset, or a policy of your own. Default: `default`. */
  readonly preset?: string | CompactionPolicyInput;
  /** Changes of the preset. Default: none. */
  readonly policy?: PolicyChanges;
  /** What is asked of the vendor with each model call, and the longest answer. Default: the vendor's and the model's own. */
  readonly request?: RequestSettings;
  readonly limits?: {
    /** Model calls of one turn. Default: 500. */
    readonly steps?: number;
    readonly toolCalls?: number;
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    /** Dollars. */
    readonly cost?: number;
    /** Seconds. */
    readonly wallTime?: number;
    /** Seconds without news. */
    readonly idleTime?: number;
    /** Part of a limit from which on the model is told. Default: 0.8. */
    readonly noteAt?: number;
    /** Of all turns of the conversation together. */
    readonly conversation?: Partial<ConversationCounts>;
    /** Times that one tool call may have the same result while no call has a new one. Default: 10. */
    readonly repeatedCalls?: number;
    /** Compactions in a row between which nothing new was done; after mere lookups one counts half. Default: 2. */
    readonly compactionsWithoutProgress?: number;
    /** Cut answers continued in a row with no tool result between them. Default: 3. */
    readonly continuations?: number;
  };
  /** Form of the final answer; `result` of a task returns it as `output`. Default: free text. */
  readonly output?: z.ZodObject;
  /** Memories across conversations: `true`, or whose they are and how many tokens their note may take. Default: none. */
  readonly memory?: boolean | { readonly user?: string; readonly tokens?: number };
  /** Relative to the working directory of the process. Default: the working directory. */
  readonly workspace?: string;
}

/**
 * Defines an agent in code, to be passed to `createWorker`. Tools of your own are passed there too.
 * @throws ConfigurationError naming every wrong option.
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
  const parsed = agentOptions.safeParse(options);
  const found = parsed.success
    ? fallbackProblems(name, parsed.data, {}, input.model ?? '').map(({ code, path, message }) => ({
        code,
        path: path.slice(2),
        message,
      }))
    : describeOptionProblems(parsed.error.issues, { value: options, below: ['agents', name] });
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
  // A policy given as a value may be called like a preset.
  const presets = typeof preset === 'string' ? PRESETS : { [preset.name]: checkPreset(preset) };
  const resolved = resolveAgent(
    { ...parsed.data, model: input.model ?? '' },
    { name, workspace: resolve(workspace), presets, models: {} },
  );
  return { ...resolved, model: input.model ?? null };
}
