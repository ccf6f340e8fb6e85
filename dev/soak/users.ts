import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Holdfast } from '../../src/client/holdfast.ts';

import type { Database } from '../../src/store/database/database.ts';
import type { Conversations } from './conversations.ts';
import { persist } from './persist.ts';
import type { SeededRandom } from '../random.ts';

const LOOK_MILLISECONDS = 700;

export interface Users {
  readonly client: Holdfast;
  readonly database: Database;
  readonly random: SeededRandom;
}

interface WaitingCall {
  readonly conversationId: string;
  readonly call: string;
  readonly decisionId: string;
}

/** A person who decides on every tool call that waits, until the end: denies one of four, and repeats one decision of five. */
export async function decide({ client, database, random }: Users, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await delay(LOOK_MILLISECONDS);
    for (const { conversationId, call, decisionId } of await findWaiting(database)) {
      const decision = { conversationId, call, decisionId };
      const send = random.chance(0.25)
        ? () => client.decisions.deny(decision)
        : () => client.decisions.approve(decision);
      // Stale when the turn was stopped meanwhile; what a server in trouble refused is found again.
      await send().catch(() => undefined);
      if (random.chance(0.2)) await send().catch(() => undefined);
    }
  }
}

async function findWaiting(database: Database): Promise<readonly WaitingCall[]> {
  try {
    return await database<WaitingCall[]>`
      select d.conversation_id as "conversationId",
        (select count(*) from turns n where n.conversation_id = t.conversation_id and n.epoch <= t.epoch)
          || '.' || d.call_number || '.' || d.call_index as call,
        d.turn_id || '/' || d.call_number || '.' || d.call_index as "decisionId"
      from decisions d join turns t on t.id = d.turn_id where d.state = 'waiting'`;
  } catch {
    // Postgres is being struck.
    return [];
  }
}

/** One message, compaction or stop, sent at any moment. @param window thousand tokens of the model's window */
export async function interfere(
  { client, database, random }: Users,
  conversations: Conversations,
  window: number,
): Promise<void> {
  const open = conversations.open();
  if (open.length === 0) return;
  const mayStop = new Set(conversations.all.flatMap((each) => (each.mayStop ? [each.conversationId] : [])));
  const stoppable = open.filter((id) => mayStop.has(id));
  const messageId = randomUUID();
  const content = `Remark ${random.between(1, 9_999)}: all is well, go on.`;
  const compactOne = async (): Promise<unknown> => {
    const worth = await findWorthCompacting(database, open, window);
    return worth.length > 0 && client.conversation.compact({ conversationId: random.pick(worth), messageId });
  };
  const ways: readonly (readonly [() => Promise<unknown>, number])[] = [
    [() => client.conversation.send({ conversationId: random.pick(open), content, mode: 'steer', messageId }), 60],
    [compactOne, 30],
    [
      async () =>
        stoppable.length > 0 && client.conversation.stop({ conversationId: random.pick(stoppable), messageId }),
      6,
    ],
  ];
  await persist(random.weighted(ways));
}

/** Conversations whose turn fills three tenths of the window: in a smaller one the task itself would be clipped. */
async function findWorthCompacting(
  database: Database,
  open: readonly string[],
  window: number,
): Promise<readonly string[]> {
  const rows = await database<{ id: string }[]>`
    select c.id from conversations c join entries e on e.turn_id = c.active_turn_id where c.id = any(${open})
    group by c.id having sum(length(e.content::text)) >= ${1_250 * window} order by c.id`;
  return rows.map(({ id }) => id);
}
