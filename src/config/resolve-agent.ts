import { changePolicy } from '../context/policy/change-policy.ts';
import type { PolicyChanges } from '../context/policy/change-policy.ts';
import type { CompactionPolicy } from '../context/policy/policy.ts';
import { MEMORY_TOOL_NAMES, RUN_COMMAND } from '../tools/runtime/names.ts';
import { DECISION_EXPIRES_AFTER_SECONDS } from '../turn/approval-rules.ts';
import type { ApprovalRule, ApprovalSettings } from '../turn/approval-rules.ts';
import { COUNTED, COUNTED_OF_CONVERSATION, DEFAULT_NOTE_AT } from '../turn/spending.ts';
import type { ConversationCounts, CountedOfConversation, SpendingLimits } from '../turn/spending.ts';
import { DEFAULT_AGENT, DEFAULT_MEMORY } from './default-agent.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import type { AgentDefinition, AgentMemory, TurnLimits } from './definitions.ts';
import type { AgentOptions, ModelOptions } from './options/options.ts';
import { presetNamed, type Presets } from './presets.ts';

export interface AgentSurroundings {
  readonly name: string;
  /** Absolute path. */
  readonly workspace: string;
  readonly presets: Presets;
  readonly models: Readonly<Record<string, ModelOptions>>;
}

/** Fills an agent's defaults in. @throws ConfigurationError `preset_unknown` */
export function resolveAgent(
  options: AgentOptions & { readonly model: string },
  { name, workspace, presets, models }: AgentSurroundings,
): AgentDefinition {
  const preset = presetNamed(presets, options.preset ?? DEFAULT_AGENT.preset);
  const allowCommands = options.allowCommands ?? DEFAULT_AGENT.allowCommands;
  return {
    name,
    model: options.model,
    ...(options.fallbacks !== undefined && {
      fallbacks: options.fallbacks.map((model) => ({
        model,
        policy: policyFor(preset, models[model]?.policy, options.policy),
      })),
    }),
    instructions: options.instructions ?? DEFAULT_AGENT.instructions,
    rules: options.rules ?? DEFAULT_AGENT.rules,
    ...(options.skills !== undefined && {
      skills: Object.entries(options.skills).map(([skill, instructions]) => ({ name: skill, instructions })),
    }),
    ...(options.variables !== undefined && { variables: options.variables }),
    tools: toolsFor(options, allowCommands),
    ...definedOf({ mcp: options.mcp }),
    allowCommands,
    ...(options.approvals !== undefined && { approvals: approvalsFor(options.approvals) }),
    policy: policyFor(preset, models[options.model]?.policy, options.policy),
    limits: limitsFor(options.limits),
    ...requestOf(options),
    ...(remembers(options) && { memory: memoryFor(options.memory) }),
    workspace,
  };
}

function approvalsFor({ rules, expiresAfter }: NonNullable<AgentOptions['approvals']>): ApprovalSettings {
  return {
    rules: (rules ?? []).map((rule): ApprovalRule => {
      if (typeof rule === 'string') return { tool: rule };
      return rule.when === undefined ? { tool: rule.tool } : { tool: rule.tool, when: rule.when };
    }),
    expiresAfterSeconds: expiresAfter ?? DECISION_EXPIRES_AFTER_SECONDS,
  };
}

function requestOf({ request: asked = {}, output }: AgentOptions): Partial<AgentDefinition> {
  const { maximumOutput, ...request } = asked;
  const all = definedOf({ ...request, output });
  return {
    ...(Object.keys(all).length > 0 && { request: all }),
    ...(maximumOutput !== undefined && { maximumOutput }),
  };
}

function remembers({ memory }: AgentOptions): boolean {
  return memory !== undefined && memory !== false;
}

function memoryFor(options: AgentOptions['memory']): AgentMemory {
  const given = typeof options === 'object' ? options : {};
  return { user: given.user ?? DEFAULT_MEMORY.user, tokens: given.tokens ?? DEFAULT_MEMORY.tokens };
}

/** Without a list of its own, an agent has every tool that its other options allow. */
function toolsFor(options: AgentOptions, allowCommands: boolean): readonly string[] {
  if (options.tools !== undefined) return options.tools;
  return [
    ...DEFAULT_AGENT.tools,
    ...(allowCommands ? [RUN_COMMAND] : []),
    ...(remembers(options) ? MEMORY_TOOL_NAMES : []),
  ];
}

function limitsFor(options: AgentOptions['limits']): TurnLimits {
  const { limits } = DEFAULT_AGENT;
  return {
    steps: options?.steps ?? limits.steps,
    repeatedCalls: options?.repeatedCalls ?? limits.repeatedCalls,
    compactionsWithoutProgress: options?.compactionsWithoutProgress ?? limits.compactionsWithoutProgress,
    continuations: options?.continuations ?? limits.continuations,
    spending: spendingFor(options ?? {}),
  };
}

/** The steps have a limit always, and near it the model is told; below that nothing is looked up for it. */
function spendingFor(options: NonNullable<AgentOptions['limits']>): SpendingLimits {
  const { idleTime, noteAt } = options;
  return {
    turn: { steps: DEFAULT_AGENT.limits.steps, ...pick(COUNTED, options) },
    conversation: pick(COUNTED_OF_CONVERSATION, options.conversation ?? {}),
    ...definedOf({ idleTime }),
    noteAt: noteAt ?? DEFAULT_NOTE_AT,
  };
}

function pick(
  names: readonly CountedOfConversation[],
  options: { readonly [Name in CountedOfConversation]?: number | undefined },
): Partial<ConversationCounts> {
  return Object.fromEntries(
    names.flatMap((counted) => (options[counted] === undefined ? [] : [[counted, options[counted]]])),
  );
}

/** The preset, over it what is said of the model, over that what the agent says. */
function policyFor(
  preset: CompactionPolicy,
  ofModel: PolicyChanges | undefined,
  ofAgent: PolicyChanges | undefined,
): CompactionPolicy {
  return changePolicy(changePolicy(preset, ofModel ?? {}), ofAgent ?? {});
}
