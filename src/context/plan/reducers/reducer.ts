import type { z } from 'zod';
import type { Draft, PlanningState } from '../planning-state.ts';

/** Makes the view smaller without a model: changes how kept entries are shown, and loses nothing. */
export interface Reducer<Options extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly options: Options;
  /** Applied also where entries are dropped for a summary, however much the compaction has still to win. */
  readonly always: boolean;
  /** Changes the draft until it is down to `goal` tokens. @throws ZodError for wrong options */
  readonly apply: (state: PlanningState, draft: Draft, options: unknown, goal: number) => void;
}

export type Reducers = ReadonlyMap<string, Reducer>;

export function reducer<Options extends z.ZodType>(definition: {
  readonly name: string;
  readonly options: Options;
  readonly always?: boolean;
  readonly apply: (state: PlanningState, draft: Draft, options: z.output<Options>, goal: number) => void;
}): Reducer<Options> {
  const { name, options, always = false, apply } = definition;
  return {
    name,
    options,
    always,
    apply: (state, draft, given, goal) => apply(state, draft, options.parse(given), goal),
  };
}
