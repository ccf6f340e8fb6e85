import type { AgentSnapshot } from './agent-snapshot.ts';

/** What another model changes of a turn: everything that depends on the model, frozen when the turn begins. */
export type FallbackModel = Pick<
  AgentSnapshot,
  'model' | 'modelLimits' | 'prices' | 'request' | 'summarizer' | 'policy'
>;

/** A model that a turn gave up. */
export interface GivenUpModel {
  /** `provider/model`. */
  readonly model: string;
  /** The call that it could not answer. */
  readonly callNumber: number;
  /** Code of the last failure's evidence, `rate_limit` when the wait was too long, `window_too_small` when the view cannot be made to fit. */
  readonly reason: string;
}

/** With another model at hand nobody waits longer than this for a rate limit: a quota of a day is an outage. */
export const LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS = 300_000;

/** The snapshot as it is in force after so many models were given up. */
export function withModelInForce(snapshot: AgentSnapshot, givenUp: number): AgentSnapshot {
  const fallback = snapshot.fallbacks?.[givenUp - 1];
  if (fallback === undefined) return snapshot;
  const { request: _ofTheFirst, ...rest } = snapshot;
  return { ...rest, ...fallback };
}

/** The model to ask when the one in force is given up too; `null`: there is none. */
export function nextFallback({ fallbacks = [] }: AgentSnapshot, givenUp: number): FallbackModel | null {
  return fallbacks[givenUp] ?? null;
}
