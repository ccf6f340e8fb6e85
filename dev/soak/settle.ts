import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Database } from '../../src/store/database/database.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { persist } from './persist.ts';
import { readPending, STARTED } from './open-work.ts';
import type { PendingActivity } from './open-work.ts';
import { advance, isStuck } from './progress.ts';
import type { Progress, Seen } from './progress.ts';
import type { Violation } from './violation.ts';

const LOOK_MILLISECONDS = 1_000;

interface Servers {
  readonly database: Database;
  readonly temporal: Client;
}

/** A conversation with an open turn or a message that nobody took. */
export interface Unfinished extends Seen {
  readonly conversationId: string;
  /** What a reader needs to find out why it stands still. */
  readonly description: string;
}

/** Waits until each conversation is finished or stuck. @returns those that are stuck */
export async function settle(servers: Servers): Promise<Violation[]> {
  let progress = new Map<string, Progress>();
  for (;;) {
    const unfinished = await persist(() => findUnfinished(servers));
    progress = new Map(unfinished.map((one) => [one.conversationId, advance(progress.get(one.conversationId), one)]));
    if ([...progress.values()].every(isStuck))
      return unfinished.map(({ description }) => ({ name: 'conversation_stuck', found: description }));
    await delay(LOOK_MILLISECONDS);
  }
}

export async function findUnfinished({ database, temporal }: Servers): Promise<Unfinished[]> {
  const rows = await database<{ conversationId: string; turnId: string | null; log: string; waiting: string[] }[]>`
    select c.id as "conversationId", c.active_turn_id as "turnId",
      concat_ws(' ', c.epoch, (select count(*) from entries e where e.conversation_id = c.id),
        (select count(*) from messages m where m.conversation_id = c.id and m.consumed_at is not null)) as log,
      array(select m.kind || ' ' || m.id from messages m
        where m.conversation_id = c.id and m.consumed_at is null order by m.position) as waiting
    from conversations c
    where c.active_turn_id is not null
      or exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null)
    order by c.id`;
  return Promise.all(
    rows.map(async ({ conversationId, turnId, log, waiting }) => {
      const pending = await readPending(temporal, turnWorkflowId(conversationId));
      const attempts = pending.map(({ runId, activityId, attempt, state }) => [runId, activityId, attempt, state]);
      const description = [
        `conversation ${conversationId}: ${turnId === null ? 'no turn' : `turn ${turnId}`} is open`,
        `${waiting.length === 0 ? 'nothing' : waiting.join(', ')} waits`,
        activitiesText(pending),
      ].join('; ');
      return { conversationId, log, attempts: JSON.stringify(attempts), description };
    }),
  );
}

function activitiesText(pending: readonly PendingActivity[]): string {
  if (pending.length === 0) return 'no activity is pending';
  return pending
    .map(({ type, attempt, state }) => `${type} (attempt ${attempt}) ${state === STARTED ? 'runs' : 'is scheduled'}`)
    .join(', ');
}
