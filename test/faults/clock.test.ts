import postgres from 'postgres';
import { expect, test } from 'vitest';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { startSteadyTurn } from './steady-turn.ts';

const harness = useWorkingHarness({ upkeep: true, agent: { allowCommands: true } });

/** Moves the clock that Holdfast reads, for every connection to the database. */
async function moveClock(offset: string): Promise<void> {
  const url = new URL(harness.databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  // As the superuser of the address, not in the role of the application.
  url.search = '';
  const admin = postgres(url.href, { max: 1, fetch_types: false, onnotice: () => undefined });
  await admin.unsafe(`alter database ${name} set holdfast.clock_offset = '${offset}'`);
  // A setting of the database counts from the next connection on.
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and application_name in ('holdfast-worker', 'holdfast-live')`;
  await admin.end();
}

test('a turn goes on when the clock of Postgres jumps a day ahead and two days back', async () => {
  const turn = await startSteadyTurn(harness);
  await moveClock('1 day');
  await turn.goesOn();
  const [ahead] = await harness.database<{ days: number }[]>`
    select round(extract(epoch from max(created_at) - clock_timestamp()) / 86400)::int as days from entries`;
  expect(ahead?.days).toBe(1);
  await moveClock('-2 days');
  await turn.goesOn();
  await turn.completes();
});

test('a turn continues when the clock of its worker jumps an hour ahead and back, and no duration is negative', async () => {
  const { now } = Date;
  const turn = await startSteadyTurn(harness);
  try {
    for (const hours of [1, -1]) {
      Date.now = () => now() + hours * 3_600_000;
      await turn.goesOn();
    }
  } finally {
    Date.now = now;
  }
  await turn.completes();
  const wrong = await harness.database`
      select duration_milliseconds from model_attempts
      where conversation_id = ${turn.conversationId} and duration_milliseconds not between 0 and 120000`;
  expect([...wrong]).toEqual([]);
});
