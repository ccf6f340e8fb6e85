import { afterEach, beforeAll, expect, test } from 'vitest';
import { expectAllHolds } from '../../support/expect-all-holds.ts';
import { startDyingWorkers } from '../../support/worker-deaths.ts';
import { useTurnHarness } from '../../support/turn-harness.ts';
import { expectDeathsInEach, eventsOf, expectWholeLog, MODEL, requestBodies, writeLogs } from './scenario.ts';

/** Each reads two files; four fill the window. */
const STEPS = 20;
const TASK = [
  `Call read_file with {"path": "log-$index.txt"} and read_file with {"path": "more-$index.txt"} ${STEPS} times, one by one`,
  'Say the reference is KT-9284',
].join('\n');

const harness = useTurnHarness({ agent: { model: MODEL, preset: 'goagent' } });

beforeAll(async () => {
  await writeLogs(harness, STEPS, 2_500);
  await writeLogs(harness, STEPS, 2_500, 'more');
});

afterEach(() => harness.clearFaults());

test('G10, G11, G14 five passes merge into one summary and lose nothing, also when a worker dies in every activity', async () => {
  const { conversationId } = await harness.client.start('Say ready', { preset: 'goagent', model: MODEL });
  const sent = await harness.client.conversation.send({ conversationId, content: TASK, mode: 'queue' });
  const deaths = await startDyingWorkers(harness);
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 200_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  expectDeathsInEach(deaths);
  await expectAllHolds(harness);
  await expectWholeLog(harness, conversationId, 2 * STEPS);
  const summaries = (await harness.client.log.summaries({ conversationId })).toSorted(
    (left, right) => (left.generation ?? 0) - (right.generation ?? 0),
  );
  expect(summaries.length).toBeGreaterThanOrEqual(5);
  let read = 0;
  for (const [pass, { text }] of summaries.entries()) {
    // What the turn was asked is in every summary, though only the first pass read it.
    expect(text, `pass ${pass + 1}`).toContain(`${STEPS} times, one by one`);
    expect(text).toContain('KT-9284');
    const listed = /<read-files>\n([\s\S]*)\n<\/read-files>/.exec(text ?? '')?.[1]?.split('\n') ?? [];
    const done = Array.from({ length: listed.length / 2 }, (_, index) => [
      `log-${index + 1}.txt`,
      `more-${index + 1}.txt`,
    ]).flat();
    expect(listed.toSorted()).toEqual(done.toSorted());
    for (const file of done) expect(text).toContain(`- ${file}: `);
    expect(listed.length).toBeGreaterThan(read);
    read = listed.length;
  }
  const prompts = await requestBodies(harness, 'summary');
  expect(prompts.filter((body) => body.includes('<previous_summary>')).length).toBeGreaterThanOrEqual(4);
  const committed = (await eventsOf(harness, conversationId)).filter(({ kind }) => kind === 'compaction_committed');
  expect(committed.map(({ data }) => [data['tokensBefore'], data['tokensAfter']])).toEqual(
    summaries.map(({ tokensBefore, tokensAfter }) => [tokensBefore, tokensAfter]),
  );
  const covered = summaries.at(-1)?.coveredThroughSequence ?? 0;
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const spoken = entries.filter((entry) => entry.sequence <= covered && entry.kind !== 'compaction');
  const removed = committed.reduce((sum, { data }) => sum + Number(data['messagesRemoved']), 0);
  // The newest message of the user stays word for word: it is covered, but not removed.
  expect(removed).toBe(spoken.length - 1);
});

test('G4 the log keeps an entry for each pass, with the summary and the id of the first entry that is kept', async () => {
  const rows = await harness.database<
    {
      marker: string;
      kind: string;
      summary: string;
      firstKept: string;
      sequence: number;
      firstKeptSequence: number;
    }[]
  >`
    select m.id as marker, m.kind, c.summary, k.id as first_kept, m.sequence, c.first_kept_sequence
    from compactions c join entries m on m.id = c.marker_entry_id
    join entries k on k.conversation_id = c.conversation_id and k.sequence = c.first_kept_sequence
    where c.status = 'committed' order by c.number`;
  expect(rows.length).toBeGreaterThanOrEqual(5);
  for (const row of rows) {
    expect(row).toMatchObject({ kind: 'compaction', summary: expect.stringContaining('## ') });
    expect(row.firstKeptSequence).toBeLessThan(row.sequence);
    // The view of the next call begins with the summary, and then with that entry.
    const { kind } = await harness.client.log.open({ entryId: row.firstKept });
    expect(['user', 'assistant']).toContain(kind);
  }
});

test('from the newest summary the lineage leads over every generation to the exact entries that it covers', async () => {
  const [conversation] = await harness.database<{ id: string }[]>`
    select conversation_id as id from compactions where status = 'committed' group by 1 having count(*) >= 5`;
  const conversationId = conversation?.id ?? '';
  const lineage = new Map((await harness.client.log.lineage({ conversationId })).map((one) => [one.compactionId, one]));
  const newest = (await harness.client.log.summaries({ conversationId })).toSorted(
    (left, right) => (right.generation ?? 0) - (left.generation ?? 0),
  )[0];
  const generations: number[] = [];
  const covered: number[] = [];
  for (let at = lineage.get(newest?.compactionId ?? ''); at !== undefined;) {
    generations.push(at.number);
    covered.push(...at.parts.flatMap(({ entries }) => entries.map(({ sequence }) => sequence)));
    at = lineage.get(at.previousCompactionId ?? '');
  }
  expect(generations).toEqual(Array.from({ length: lineage.size }, (_, index) => lineage.size - index));
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const through = newest?.coveredThroughSequence ?? 0;
  const spoken = entries.filter(
    ({ sequence, kind }) => sequence <= through && ['user', 'assistant', 'tool_result'].includes(kind),
  );
  expect(covered.toSorted((left, right) => left - right)).toEqual(spoken.map(({ sequence }) => sequence));
});
