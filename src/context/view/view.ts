import type { ContentPart } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import type { Operation, SummaryInForce } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import type { RuntimeNote } from './notes.ts';

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** How a tool runs. The worker that gets an answer may lack the tool. */
export interface ToolTraits {
  /** Default: false. */
  readonly exclusive?: boolean;
  /** Default: that of all tools. */
  readonly timeoutMilliseconds?: number;
  /** The tool may want an approval, whatever the rules say. Default: false. */
  readonly asks?: boolean;
}

/** The part of a turn's agent snapshot that requests are made from. */
export interface AgentView {
  readonly instructions: string;
  readonly rules: readonly string[];
  readonly tools: readonly ToolSchema[];
  readonly skills?: readonly Skill[];
  readonly variables?: Readonly<Record<string, string>>;
  /** System, locale and time zone of the machine that runs the tools. */
  readonly device?: string;
  /** The system prompt is made of named blocks. Default: false. */
  readonly namedBlocks?: boolean;
  /** The advice of the policy's runtime note; with it each request ends with the turn's counters. */
  readonly runtimeAdvice?: string;
}

export interface Skill {
  readonly name: string;
  readonly instructions: string;
}

export type ViewMessage =
  | {
      readonly role: 'user';
      readonly content: readonly ContentPart[];
      readonly origin: 'user' | 'summary' | 'note' | 'runtime';
    }
  | {
      readonly role: 'assistant';
      readonly content: readonly ContentPart[];
      readonly callNumber: number;
      readonly turnId: string;
    }
  /** All results of one assistant message, in call order; each names the provider's call id. */
  | {
      readonly role: 'tool_results';
      readonly results: readonly {
        readonly id: string;
        readonly name: string;
        readonly isError: boolean;
        readonly content: readonly ContentPart[];
      }[];
    };

export interface View {
  readonly system: string;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly ViewMessage[];
}

export interface ProjectionInput {
  readonly agent: AgentView;
  readonly policy: CompactionPolicy;
  /** Entries of the branch that the view needs, oldest first: kept ones, kept older user messages, newest notes. */
  readonly entries: readonly Entry[];
  readonly summary: (SummaryInForce & { readonly text: string }) | null;
  readonly operations: readonly Operation[];
  /** Counters of the turn, behind everything else; absent unless the policy asks for them. */
  readonly runtime?: RuntimeNote;
  /**
   * Newest entry that existed when the newest compaction in force was committed; 0: none is in force. Assistant entries up to it lose their
   * reasoning: its signature is bound to everything before it, so that it can neither be sent as it was nor edited (R11). Default: 0.
   */
  readonly changedThroughSequence?: number;
}
