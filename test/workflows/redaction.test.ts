import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { conversationHeadLines } from '../../src/cli/render/lists/entry-list.ts';
import { itemLines } from '../../src/cli/render/turn/item-lines.ts';
import { applyEvent, startState } from '../../src/cli/render/turn/turn-state.ts';
import { PLAIN_STYLE } from '../../src/cli/render/text/style.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

/** Of well-known forms, none of them real. */
const SECRETS = [
  'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8',
  'postgres://admin:not-a-password@db.example.com:5432/orders',
];

const harness = useTurnHarness({ agent: { model: 'simulator/sim-16k', preset: 'cowork', memory: true } });

beforeAll(async () => {
  await mkdir(join(harness.workspace, '.cowork'));
  await writeFile(join(harness.workspace, 'log-1.txt'), `deploy with ${SECRETS.join(' and ')} in region north\n`);
  for (let file = 2; file <= 24; file += 1) {
    const lines = Array.from({ length: 90 }, (_, index) => `pump ${file * 100 + index} opens at ${index + file} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
});

test('R28 through a whole turn, secrets in tool output stay in the original, and no summary, memory or request for one has them', async () => {
  const { client, database } = harness;
  const read = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, file) => `Call read_file with {"path": "log-${from + file}.txt"}`).join(
      '\n',
    );
  const { conversationId } = await harness.runTask(read(1, 10));
  const asked = await client.conversation.compact({ conversationId, focus: `keep ${SECRETS[0]}` });
  await client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 });
  const turn = await harness.runTask(read(11, 24), { conversationId });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect((await client.log.summaries({ conversationId })).length).toBeGreaterThan(1);

  const { requests } = await harness.requests();
  const summaryRequests = JSON.stringify(requests.filter(({ purpose }) => purpose === 'summary'));
  expect(summaryRequests).toContain('[redacted: github]');
  const written = await database<{ text: string }[]>`
    select text::text as text from compaction_parts where text is not null
    union all select summary::text from compactions where summary is not null union all select text::text from memories`;
  const memories = await database`select text from memories`;
  expect(memories.length).toBeGreaterThan(0);
  for (const secret of SECRETS) {
    expect(summaryRequests).not.toContain(secret);
    for (const { text } of written) expect(text).not.toContain(secret);
    const [original] = await database<{ count: number }[]>`
      select count(*)::int as count from entries
      where conversation_id = ${conversationId} and kind = 'tool_result' and content::text like ${`%${secret}%`}`;
    expect(original?.count).toBe(1);
  }

  const listed = await listEvents(database, { conversationId, after: 0, limit: 10_000 });
  const events = listed.filter((event) => event.kind === 'secrets_redacted');
  const counted = events.reduce((sum, { data }) => sum + data.count, 0);
  expect(counted).toBeGreaterThanOrEqual(3);
  const [told] = events.flatMap((event) => applyEvent(startState(0), { ...event, sequence: event.number }, null).items);
  expect(told && itemLines(told, { columns: null, style: PLAIN_STYLE }).join('\n')).toMatch(
    /· \d+ secrets? replaced in .*; the originals are unchanged\./,
  );
  const shown = conversationHeadLines(await client.conversation.get({ conversationId }), {
    activeEntryCount: 0,
    columns: null,
    style: PLAIN_STYLE,
    now: Date.now(),
  });
  expect(shown.join('\n')).toContain(`${counted} secrets replaced in summaries and what they were made from`);
});
