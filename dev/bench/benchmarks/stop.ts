import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { summarize } from '../statistics.ts';

/** From the row of a stop to the end of its turn, while the model does not answer; both by Postgres' clock. */
export async function measureStop(
  { client, connections, database, signal }: BenchStack,
  rounds: number,
): Promise<Figure[]> {
  const milliseconds: number[] = [];
  for (let round = 0; round < rounds && !signal.aborted; round += 1) {
    await fetch(`${connections.simulatorUrl ?? ''}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'hang', times: 1 }),
      signal,
    });
    const sent = await client.start('Say hello');
    const { conversationId } = sent;
    while ((await client.log.modelCalls({ conversationId })).items.length === 0) await sleep(20, undefined, { signal });
    // The call is registered before it is sent.
    await sleep(200, undefined, { signal });
    const { messageId } = await client.conversation.stop({ conversationId });
    const { turnId } = await client.conversation.outcome({ ...sent, signal });
    const [row] = await database<{ milliseconds: number }[]>`
      select 1000 * extract(epoch from t.ended_at - m.created_at)::float8 as milliseconds
      from messages m join turns t on t.id = ${turnId} where m.id = ${messageId}`;
    if (row !== undefined) milliseconds.push(row.milliseconds);
  }
  const figure = { benchmark: 'stop', unit: 'ms' } as const;
  return [{ ...figure, name: 'stop → turn ended', target: { atMost: 2_000 }, ...summarize(milliseconds) }];
}
