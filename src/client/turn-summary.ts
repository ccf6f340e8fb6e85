import type { WindowBreakdown } from '../context/plan/plan.ts';
import type { GivenUpModel } from '../turn/fallback.ts';
import type { TurnOutcome, TurnState } from '../turn/turn-reference.ts';

/** What became of a turn. */
export interface EndedTurn<Output = unknown> extends TurnSummary {
  readonly state: 'ended';
  readonly outcome: TurnOutcome;
  readonly explanation: string;
  /** The final answer; empty when the turn ended without one. */
  readonly text: string;
  /** The final answer in the form that was given to wait for it. Absent: none was given, or the turn has no answer of that form. */
  readonly output?: Output;
}

export interface TurnSummary {
  readonly turnId: string;
  readonly state: TurnState | 'ended';
  readonly outcome: TurnOutcome | null;
  /** Code of what led to the outcome. */
  readonly reason: string | null;
  /** One sentence for a person: what happened and what can be done next. */
  readonly explanation: string | null;
  /** In force: the agent's own, or a fallback. */
  readonly model: string;
  /** Models that were given up for a fallback, oldest first. */
  readonly givenUp: readonly GivenUpModel[];
  /** A compaction or a change of branch in an idle conversation: no task, so there is none to resume, but for `tookMessages`. */
  readonly commandOnly: boolean;
  /** A message of the user stands in it: also in a command that was stopped, with what was sent before the stop. */
  readonly tookMessages: boolean;
  readonly steps: number;
  readonly modelCalls: number;
  readonly compactions: number;
  readonly overflows: number;
  readonly usage: {
    readonly input: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly output: number;
  };
  /** Dollars; `null` when a price is unknown. */
  readonly cost: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** What filled the window when the outcome is `context_exhausted`. */
  readonly breakdown: WindowBreakdown | null;
}
