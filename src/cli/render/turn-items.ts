import type { CompactionFacts } from './read-event.ts';

/** What is shown of a turn for good, in order: each stands for itself and never changes. */
export type TurnItem =
  | {
      readonly kind: 'turn_begun';
      readonly agent: string | null;
      readonly model: string | null;
      readonly preset: string | null;
    }
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string }
  | FinishedTool
  | { readonly kind: 'compaction_begun'; readonly compaction: CompactionFacts }
  | {
      readonly kind: 'compaction_done';
      readonly compaction: CompactionFacts;
      readonly durationMilliseconds: number | null;
    }
  | { readonly kind: 'notice'; readonly level: 'information' | 'warning'; readonly text: string }
  | { readonly kind: 'turn_ended'; readonly outcome: string; readonly reason: string | null };

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
