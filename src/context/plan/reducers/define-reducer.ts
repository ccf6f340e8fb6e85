import type { z } from 'zod';
import { characterCount, showsMedia } from '../../log/measurements.ts';
import { clearOperation, clipOperation } from '../../log/operations.ts';
import { isUnseen } from '../planning-state.ts';
import type { Draft, PlanningState } from '../planning-state.ts';
import { reducer } from './built-in.ts';
import type { Reducer } from './built-in.ts';

/** A message, answer or tool result that the view shows, as numbers: its text stays in the database. */
export interface ReducibleEntry {
  readonly id: string;
  readonly kind: 'user' | 'assistant' | 'tool_result';
  readonly turnId: string;
  /** Of a tool result; `null` for others. */
  readonly toolName: string | null;
  readonly isError: boolean;
  /** Of the original. */
  readonly characters: number;
  /** As it is shown now, by the calibrated estimate. */
  readonly tokens: number;
  readonly images: number;
  /** How it is shown now; `null`: as it was. */
  readonly shown: 'clip' | 'clear' | 'strip' | null;
}

export interface ReducerInput {
  /** What may be changed, oldest first. The newest answer, and what came after it, is not among them. */
  readonly entries: readonly ReducibleEntry[];
  /** Tokens of the whole view, by the calibrated estimate. */
  readonly tokens: number;
  readonly goal: number;
}

/** How an entry is shown from now on; made by `clip`, `clear` or `strip`. */
export type Change =
  | { readonly kind: 'clip'; readonly id: string; readonly head: number; readonly tail: number }
  | { readonly kind: 'clear'; readonly id: string }
  | { readonly kind: 'strip'; readonly id: string };

/**
 * Keeps the beginning and the end of an entry.
 * @param id of the entry
 * @param options.head characters that are kept of the beginning
 * @param options.tail characters that are kept of the end
 */
export function clip(id: string, { head, tail }: { readonly head: number; readonly tail: number }): Change {
  return { kind: 'clip', id, head, tail };
}

/** Replaces a tool result by a line that names it and says how to open it. @param id of the tool result */
export function clear(id: string): Change {
  return { kind: 'clear', id };
}

/** Replaces the images and files of an entry by markers. @param id of the entry */
export function strip(id: string): Change {
  return { kind: 'strip', id };
}

/** `plan` named an entry that it was not given, cleared what is no tool result, or clipped to less than 0 characters. */
export class ReducerError extends Error {
  override readonly name = 'ReducerError';
  readonly code = 'reducer_change_invalid';
}

/**
 * Defines a reducer in code. Pass it to `createWorker`; policies name it under `reduce`. Originals stay stored, and a placeholder says how
 * to open them. Changes are made in order until the view is down to the goal. A change that would make an entry larger is left out.
 */
export function defineReducer<Options extends z.ZodType>(definition: {
  /** Policies use it. Not the name of a built-in reducer. */
  readonly name: string;
  /** A zod schema of what policies may set. */
  readonly options: Options;
  /** Chooses the changes. Must be pure, because it may run again for the same compaction. */
  readonly plan: (input: ReducerInput, options: z.output<Options>) => readonly Change[];
}): Reducer<Options> {
  const { name, options, plan } = definition;
  return reducer({
    name,
    options,
    apply: (draft, given, goal) => {
      const { state } = draft;
      const positions = reduciblePositions(state);
      const byId = new Map(positions.map((position) => [state.table.at(position).id, position]));
      const entries = positions.map((position) => reducibleEntry(draft, position));
      for (const change of plan({ entries, tokens: Math.ceil(draft.tokens), goal: Math.floor(goal) }, given)) {
        if (draft.tokens <= goal) return;
        const position = byId.get(change.id);
        if (position === undefined) throw new ReducerError(`${name} changed ${change.id}, which it was not given`);
        applyChange(draft, { change, position, name });
      }
    },
  });
}

function reduciblePositions(state: PlanningState): number[] {
  const isReducible = (position: number): boolean =>
    ['user', 'assistant', 'tool_result'].includes(state.table.kindAt(position)) &&
    position !== state.seenThrough &&
    !isUnseen(state, position);
  return state.arrangement.kept.filter(isReducible);
}

function reducibleEntry(draft: Draft, position: number): ReducibleEntry {
  const { id, kind, turnId, toolName = null, isError = false, measurements } = draft.state.table.at(position);
  return {
    id,
    kind: kind === 'user' || kind === 'assistant' ? kind : 'tool_result',
    turnId,
    toolName,
    isError,
    characters: characterCount(measurements),
    tokens: Math.ceil(draft.tokensOf(position)),
    images: draft.measurementsOf(position).images,
    shown: draft.operationOn(position)?.kind ?? null,
  };
}

function applyChange(
  draft: Draft,
  of: { readonly change: Change; readonly position: number; readonly name: string },
): void {
  const { change, position, name } = of;
  const entry = draft.state.table.at(position);
  switch (change.kind) {
    case 'clip': {
      const characters = characterCount(entry.measurements);
      // A share of an entry's characters has decimals, which Postgres refuses.
      const [head = 0, tail = 0] = [change.head, change.tail].map((kept) => Math.floor(Math.min(kept, characters)));
      if (!(head >= 0 && tail >= 0)) {
        throw new ReducerError(
          `${name} clipped ${change.id} to ${change.head} and ${change.tail} characters: use 0 or more`,
        );
      }
      const keepMedia = showsMedia(draft.measurementsOf(position));
      draft.change(position, clipOperation(entry, { head, tail, keepMedia }));
      return;
    }
    case 'clear':
      if (entry.kind !== 'tool_result') {
        throw new ReducerError(`${name} cleared ${change.id}, which is no tool result: clip it instead`);
      }
      draft.change(position, clearOperation(entry));
      return;
    case 'strip':
      draft.strip(position);
  }
}
