import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Database } from '../src/store/database.ts';
import { turnWorkflowId } from '../src/turn/workflow-id.ts';
import type { Conversations } from './conversations.ts';
import { readPending, STARTED } from './open-work.ts';
import type { PendingActivity } from './open-work.ts';
import type { Violation } from './violation.ts';

const POLL_MILLISECONDS = 250;

/** The last one ended while it was looked for. */
const JUST_TOO_LATE: Violation = { name: 'turn_not_settled', found: 'the last outcome came just after the time' };

/** How everything came to its end when nothing struck any more. */
export interface Settled {
  /** Until no turn was open and no message waited; `null` when that took too long. */
  readonly milliseconds: number | null;
  /** What was open or waited then. */
  readonly unsettled: readonly Violation[];
}

/**
 * Waits until no turn is open and no message waits.
 *
 * @param settling milliseconds until what is left is a violation
 * @param endUsers called then; what they wished at the last moment has to end too
 */
export async function settle(
  evidence: { readonly database: Database; readonly temporal: Client; readonly conversations: Conversations },
  settling: number,
  endUsers: () => Promise<unknown>,
): Promise<Settled> {
  const { conversations } = evidence;
  const startedAt = Date.now();
  const isSettled = async (): Promise<boolean> => {
    while ((await conversations.countUnfinished()) > 0) {
      if (Date.now() - startedAt > settling) return false;
      await delay(POLL_MILLISECONDS);
    }
    return true;
  };
  const first = await isSettled();
  // Before users leave: a turn that waits for one of them would be seen to wait for nobody.
  const unsettled = first ? [] : await findUnsettled(evidence, new Date(startedAt));
  await endUsers();
  if (first && (await isSettled())) return { milliseconds: Date.now() - startedAt, unsettled: [] };
  const left = first ? await findUnsettled(evidence, new Date(startedAt)) : unsettled;
  return { milliseconds: null, unsettled: left.length > 0 ? left : [JUST_TOO_LATE] };
}

interface OpenTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly entries: number;
}

/**
 * Turns without an outcome and messages that wait: what a turn did since then tells a slow machine from a turn that stands still.
 *
 * @param since when the last strike was over
 */
export async function findUnsettled(
  { database, temporal }: { readonly database: Database; readonly temporal: Client },
  since: Date,
): Promise<Violation[]> {
  const turns = await database<OpenTurn[]>`
    select t.id as "turnId", t.conversation_id as "conversationId",
      (select count(*) from entries e where e.turn_id = t.id and e.created_at > ${since})::int as entries
    from turns t where t.outcome is null order by t.id`;
  const waiting = await database<{ id: string; conversationId: string; kind: string }[]>`
    select id, conversation_id as "conversationId", kind from messages where consumed_at is null order by id`;
  const open = turns.map(async ({ turnId, conversationId, entries }): Promise<Violation> => {
    const pending = await readPending(temporal, turnWorkflowId(conversationId));
    return {
      name: 'turn_not_settled',
      found: `turn ${turnId} of ${conversationId} is open: ${entries} entries since the last strike, ${activitiesText(pending)}`,
    };
  });
  return [
    ...(await Promise.all(open)),
    ...waiting.map(({ id, conversationId, kind }) => ({
      name: 'message_not_settled',
      found: `${kind} ${id} of ${conversationId} waits`,
    })),
  ];
}

function activitiesText(pending: readonly PendingActivity[]): string {
  if (pending.length === 0) return 'no activity is pending';
  return pending
    .map(({ type, attempt, state }) => `${type} (attempt ${attempt}) ${state === STARTED ? 'runs' : 'is scheduled'}`)
    .join(', ');
}
