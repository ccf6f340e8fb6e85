import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../src/client/types.ts';
import type { Database } from '../src/store/database.ts';
import type { Random } from './random.ts';

const LOOK_MILLISECONDS = 700;

interface WaitingCall {
  readonly conversationId: string;
  readonly call: string;
  readonly decisionId: string;
}

/** A person who decides on every tool call that waits, until the end: denies one of four, and says each decision again now and then. */
export async function decide(
  {
    client,
    database,
    random,
  }: { readonly client: HoldfastClient; readonly database: Database; readonly random: Random },
  end: AbortSignal,
): Promise<void> {
  while (!end.aborted) {
    await delay(LOOK_MILLISECONDS);
    for (const { conversationId, call, decisionId } of await findWaiting(database)) {
      const decision = { conversationId, call, decisionId };
      const send = random.chance(0.25) ? () => client.deny(decision) : () => client.approve(decision);
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
