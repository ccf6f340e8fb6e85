import type { CommittedCompaction, CompactionPlan } from './compaction-state.ts';

/** What is shown of a turn for good, in order: each stands for itself and never changes. */
export type TurnItem =
  | { readonly kind: 'turn_begun'; readonly agent: string; readonly model: string; readonly preset: string }
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string }
  | FinishedTool
  | { readonly kind: 'compaction_begun'; readonly plan: CompactionPlan }
  | { readonly kind: 'compaction_done'; readonly done: CommittedCompaction }
  | { readonly kind: 'notice'; readonly level: 'information' | 'warning'; readonly text: string };

export interface FinishedTool {
  readonly kind: 'tool';
  readonly name: string;
  /** JSON as the model wrote it; `null` when the call's entry was not read. */
  readonly arguments: string | null;
  readonly outcome: 'succeeded' | 'failed' | 'outcome_unknown' | 'not_run';
  /** Bytes of the result; `null` when its entry was not read. */
  readonly bytes: number | null;
  /** First words of a failure. */
  readonly failure: string | null;
  readonly durationMilliseconds: number | null;
}
