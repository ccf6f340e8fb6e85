import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openMovedClock } from './support/moved-clock.ts';
import { endedAs, startTurn, useTestStore } from './support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

async function migration(name: string): Promise<string> {
  return readFile(new URL(`../../migrations/${name}.sql`, import.meta.url), 'utf8');
}

it('what earlier versions took off the time of a conversation when the clock stepped back is added again', async () => {
  const clock = openMovedClock(url);
  await clock.set(2 * 86_400);
  const [stepped, other] = [await startTurn(clock.sql), await startTurn(sql)];
  await clock.close();
  const [, before = ''] =
    /create (function worked_seconds.*?\$\$;)/su.exec(await migration('000044_running_totals')) ?? [];
  await sql.unsafe(`create or replace ${before}`);
  for (const turn of [stepped, other]) await endedAs(sql, turn);
  await sql`update conversations set worked_seconds = worked_seconds + 40 where id = ${stepped.conversationId}`;
  const seconds = async ({ conversationId }: typeof stepped): Promise<unknown> =>
    (await sql`select worked_seconds from conversations where id = ${conversationId}`)[0]?.['worked_seconds'];
  expect(await seconds(stepped)).toBeLessThan(-172_000);
  const kept = await seconds(other);
  await sql.unsafe('alter table messages drop column sent_epoch');
  await sql.unsafe(await migration('000078_clocks_that_step_back'));
  expect(await seconds(stepped)).toBeCloseTo(40, 3);
  expect(await seconds(other)).toBe(kept);
});
