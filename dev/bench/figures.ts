import type { Summary } from './statistics.ts';

export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table. */
export interface Figure extends Summary {
  readonly benchmark: string;
  readonly name: string;
  /** `×` marks a ratio of two values that were measured in the same minutes on the same servers. */
  readonly unit:
    | '×'
    | 'ms'
    | 'steps/s'
    | 'bytes'
    | 'events'
    | 'MiB'
    | 'tokens'
    | 'queries'
    | 'rows'
    | 'rounds'
    | 'calls'
    | '%';
  /** Absent where the figure only explains another one. */
  readonly target?: Target;
  /** What it is the 95th percentile of, in the JSON. */
  readonly p95Of?: string;
}

/** `null` without a target. */
export function meetsTarget({ median, target }: Figure): boolean | null {
  if (target === undefined) return null;
  return 'atMost' in target ? median <= target.atMost : median >= target.atLeast;
}

/** Every figure with a target meets it, and there is at least one figure. */
export function allTargetsMet(figures: readonly Figure[]): boolean {
  return figures.length > 0 && figures.every((figure) => meetsTarget(figure) !== false);
}
