import type { Database } from '../../store/database/database.ts';
import { recordWaitOver, recordWorkerWait } from '../../store/turns/waits.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { WorkerNeed } from '../../turn/waits.ts';
import { waitFailure } from './activity-error.ts';
import type { ActivityDependencies } from './dependencies.ts';

/**
 * Temporal serves the polls of a queue in turn, five of each worker, and makes an attempt that failed at once again after a second: a
 * second worker may need six attempts to get it. Only behind these the wait grows.
 */
const PROMPT_ATTEMPTS = 20;
const PROMPT_DELAY_MILLISECONDS = 100;
const GROWTH_MILLISECONDS = 200;
const LONGEST_DELAY_MILLISECONDS = 10_000;
/** Shorter waits are not worth a write. */
const UNTOLD_ATTEMPTS = 2;

/** This worker lacks what the activity needs; another worker of its queue may have it. Thrown before anything is written. */
export class LackedHere extends Error {
  override readonly name = 'LackedHere';
  readonly need: WorkerNeed;

  constructor(need: WorkerNeed) {
    super(`this worker lacks ${need.needs} ${need.name}`);
    this.need = need;
  }
}

/**
 * Leaves an activity to other workers until one has what it needs: no failure, however long it takes. What nobody seems to have is told.
 * @param attempt that lacked it, from 1
 * @returns the failure after which Temporal gives the activity to a worker again
 */
export async function handOver(
  sql: Database,
  of: { readonly conversationId: string; readonly turn: TurnReference | null },
  attempt: number,
  { need, message }: LackedHere,
): Promise<Error> {
  if (attempt > UNTOLD_ATTEMPTS) await recordWorkerWait(sql, of, need);
  const growth = Math.max(0, attempt - PROMPT_ATTEMPTS) * GROWTH_MILLISECONDS;
  return waitFailure(message, Math.min(PROMPT_DELAY_MILLISECONDS + growth, LONGEST_DELAY_MILLISECONDS));
}

/** Tells that the wait for a worker is over, if it was told. */
export async function takeOn({ database }: ActivityDependencies, turn: TurnReference, attempt: number): Promise<void> {
  if (attempt > UNTOLD_ATTEMPTS) await recordWaitOver(database, turn);
}

/** Whether the turn began with a tool that this worker lacks. */
export function lacksTool(
  { tools }: Pick<ActivityDependencies, 'tools'>,
  snapshot: AgentSnapshot,
  name: string,
): boolean {
  return tools.get(name) === undefined && snapshot.tools.some((tool) => tool.name === name);
}

/** @throws LackedHere when the model that a turn is to ask belongs to a provider that this worker lacks */
export function requireProvider({ providers }: Pick<ActivityDependencies, 'providers'>, name: string): void {
  if (!providers.includes(name)) throw new LackedHere({ needs: 'provider', name });
}
