import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import type { ToolCallReference } from './tool-call-rows.ts';

/** The same for every attempt of a call, in whatever run or worker. */
export function idempotencyKeyOf({ turn, callNumber, callIndex }: ToolCallReference): string {
  return `${turn.turnId}:${callNumber}:${callIndex}`;
}

/** Of these keys, those of calls that have their result: nothing may run for them any more. Keys of other databases are left out. */
export async function findFinishedCalls(sql: Database, idempotencyKeys: readonly string[]): Promise<string[]> {
  const calls = idempotencyKeys.flatMap((key) => {
    const [turnId = '', callNumber = '', callIndex = '', ...rest] = key.split(':');
    const isKey = rest.length === 0 && isId(turnId) && /^\d{1,9}$/.test(callNumber) && /^\d{1,9}$/.test(callIndex);
    return isKey ? [{ key, turnId, callNumber: Number(callNumber), callIndex: Number(callIndex) }] : [];
  });
  if (calls.length === 0) return [];
  const rows = await sql<{ key: string }[]>`
    select k.key from unnest(${calls.map(({ key }) => key)}::text[], ${calls.map(({ turnId }) => turnId)}::uuid[],
      ${calls.map(({ callNumber }) => callNumber)}::int[], ${calls.map(({ callIndex }) => callIndex)}::int[])
      as k (key, turn_id, call_number, call_index)
    join tool_calls t using (turn_id, call_number, call_index)
    where t.state = 'finished'`;
  return rows.map(({ key }) => key);
}
