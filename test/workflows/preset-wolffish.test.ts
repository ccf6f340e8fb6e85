import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startDyingWorkers } from '../support/worker-deaths.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { expectDeathsInEach } from './presets/scenario.ts';

const MAILS = 41;
/**
 * Characters: with a window, a reserve and mails of a tenth of their size, 15 mails take a tenth of what seeds/wolffish.md reports, 494,000
 * tokens of the document's 1.5 characters. What decides is their share of the window.
 */
const MAIL_CHARACTERS = 4_940;
const TASK = `Call read_file with {"path": "mail/$index.txt", "limit": 2000} ${MAILS} times, one by one\nSay all mails are read`;

const agent = {
  model: 'simulator/sim-98k',
  preset: 'wolffish',
  policy: { outputReserve: { tokens: 3_277 } },
} as const;
const harness = useTurnHarness({ agent });

beforeAll(async () => {
  await mkdir(join(harness.workspace, 'mail'));
  for (let mail = 1; mail <= MAILS; mail += 1) {
    const lines = Array.from(
      { length: 100 },
      (_, index) => `{"mail":${mail},"line":${index},"ref":"KT-${mail * 7_919 + index}"}\n`,
    );
    await writeFile(join(harness.workspace, 'mail', `${mail}.txt`), lines.join('').slice(0, MAIL_CHARACTERS));
  }
});

test('W3, W37, W38 41 mails are read one by one: 41 of 41, no 400, also when a worker dies in every activity', async () => {
  const sent = await harness.client.start(TASK);
  const deaths = await startDyingWorkers(harness);
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 600_000 });
  expect(turn.outcome).toBe('completed');
  expectDeathsInEach(deaths);
  await expectAllHolds(harness);
  const [read] = await harness.database<{ calls: number; failed: number }[]>`
    select count(distinct e.call_number)::int as calls, count(*) filter (where e.is_error)::int as failed
    from entries e where e.conversation_id = ${sent.conversationId} and e.kind = 'tool_result'`;
  expect(read).toEqual({ calls: MAILS, failed: 0 });
  const { requests } = await harness.requests();
  expect(requests.filter(({ status }) => status === 400)).toEqual([]);
  const events = await harness.database<{ kind: string; data: Record<string, unknown> }[]>`
    select kind, data from events where conversation_id = ${sent.conversationId}
      and kind in ('compaction_started', 'compaction_committed') order by number`;
  const started = events.find(({ kind }) => kind === 'compaction_started')?.data ?? {};
  expect(started).toMatchObject({ force: false, parts: 1 });
  expect(Number(started['messages'])).toBeGreaterThan(20);
  const applied = events.find(({ kind }) => kind === 'compaction_committed')?.data ?? {};
  expect(applied['tokensSaved']).toBe(Number(applied['tokensBefore']) - Number(applied['tokensAfter']));
  expect(Number(applied['messagesChanged'])).toBeGreaterThan(1);
  expect(events.filter(({ kind }) => kind === 'compaction_committed').length).toBeGreaterThan(0);
}, 1_200_000);
