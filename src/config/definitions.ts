import type { CompactionPolicy } from '../context/policy/policy.ts';
import type { ApprovalSettings } from '../turn/approval-rules.ts';
import type { LoopLimits } from '../turn/progress.ts';
import type { SpendingLimits } from '../turn/spending.ts';
import type { Skill } from '../context/view/view.ts';
import type { RequestOptions } from '../turn/agent-snapshot.ts';

/** Hard limits of one turn; a turn over one ends as `budget_exhausted`. */
export interface TurnLimits extends LoopLimits {
  /** Model calls. Default: 500. */
  readonly steps: number;
  /** What the database counts; absent in agents of the lab, of which nothing but the steps is limited. */
  readonly spending?: SpendingLimits;
}

/** An agent as `holdfast.yaml` describes it, all defaults filled in. */
export interface AgentDefinition {
  readonly name: string;
  /** `provider/model`. */
  readonly model: string;
  /** Models that take over one after another, with the policy for each. Absent: none. */
  readonly fallbacks?: readonly FallbackDefinition[];
  readonly instructions: string;
  /** Pinned, verbatim in every request. */
  readonly rules: readonly string[];
  /** Named blocks of instructions; part of every request. */
  readonly skills?: readonly Skill[];
  /** Values that the agent may need to know, by name. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Names of tools that the agent may use. */
  readonly tools: readonly string[];
  /** MCP servers, or `server__tool`, whose tools a worker adds to `tools` when it knows them. Absent: none. */
  readonly mcp?: readonly string[];
  /** `run_command` is refused unless this is true: it cannot be confined to the workspace. */
  readonly allowCommands: boolean;
  /** Tool calls that a person must allow first, and how long a turn waits for people. Absent: only what tools themselves ask for, a day. */
  readonly approvals?: ApprovalSettings;
  readonly policy: CompactionPolicy;
  readonly limits: TurnLimits;
  /** What is asked of the vendor with each model call. Default: nothing. */
  readonly request?: RequestOptions;
  /** Tokens of an answer at most, where the agent wants less than the model can. */
  readonly maximumOutput?: number;
  /** Memories across conversations; absent: none. */
  readonly memory?: AgentMemory;
  /** Absolute path. */
  readonly workspace: string;
}

/** What `defineAgent` returns: the worker that gets it knows the model of an agent that names none. */
export interface DefinedAgent extends Omit<AgentDefinition, 'model'> {
  /** `provider/model`; `null`: the worker's default model. */
  readonly model: string | null;
}

export interface FallbackDefinition {
  /** `provider/model`. */
  readonly model: string;
  readonly policy: CompactionPolicy;
}

export interface AgentMemory {
  /** Whose memories of scope `user` they are. */
  readonly user: string;
  /** Most that the note of memories takes of a request. */
  readonly tokens: number;
}
