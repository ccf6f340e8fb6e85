import type { ContentPart } from '../log/content.ts';
import { frame } from '../log/frames.ts';

/** Where a turn stands, as its model is told at the end of each request. */
export interface RuntimeNote {
  /** Model calls of the turn, the one that is made now included. */
  readonly iteration: number;
  /** Tool calls of the turn so far. */
  readonly toolCalls: number;
}

/**
 * Numbers that change with every request, so they stand behind the cache mark and are no entry of
 * the log; the advice that goes with them is part of the system prompt.
 */
export function runtimeContent({ iteration, toolCalls }: RuntimeNote): readonly ContentPart[] {
  const counts = `  Tool iteration this turn: ${iteration}\n  Tools called this turn: ${toolCalls}`;
  return [{ type: 'text', text: frame('runtime', counts) }];
}
