import type { OfConversation } from './arguments.ts';

/** A tool call that waits for a person. */
export interface WaitingCall {
  /**
   * Names the call in the conversation, for ever: number of the turn, number of the model call in the turn, index in the
   * answer, as in `3.2.0`.
   */
  readonly call: string;
  readonly turnId: string;
  /** `approval`: approve or deny it. `question`: answer it. */
  readonly kind: 'approval' | 'question';
  readonly tool: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
  /** All rules that made it ask; a decision for the turn or the agent stands for each of them. */
  readonly rules: readonly string[];
  readonly requestedAt: string;
  /** When it counts as denied or not answered. */
  readonly expiresAt: string;
}

/** A tool call that waits in one of the tenant's conversations. */
export interface WaitingCallOfTenant extends WaitingCall {
  readonly conversationId: string;
  readonly agent: string;
}

export interface DecisionOptions extends OfConversation {
  /** As in `WaitingCall`. Default: the only call that waits. */
  readonly call?: string;
  /** Chosen by the caller to make sending twice harmless, one for each decision; at most 200 characters. Default: a new UUID. */
  readonly decisionId?: string;
}

export interface ApprovalOptions extends DecisionOptions {
  /** The call; all calls of this turn under the same rules; or those of all turns of the agent, waiting and later ones. Default: `call`. */
  readonly for?: 'call' | 'turn' | 'agent';
  /** Shown to the model with a denial. */
  readonly reason?: string;
}

export interface SentDecision {
  readonly conversationId: string;
  /** The call that was decided, as in `WaitingCall`. */
  readonly call: string;
  readonly turnId: string;
  readonly tool: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
  /** All rules that made it ask: for the turn or the agent, what the decision stands for. */
  readonly rules: readonly string[];
  /** The same id had decided it before: nothing was written. */
  readonly duplicate: boolean;
  /** Waiting calls that it decided, with `for: 'agent'` also those of other conversations. */
  readonly decided: number;
}

/** A decision for all turns of an agent. */
export interface StandingApproval {
  readonly agent: string;
  readonly rule: string;
  readonly decision: 'approved' | 'denied';
  readonly decidedAt: string;
}
