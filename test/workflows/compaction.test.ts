import { beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { useTurnHarness, startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { writeLogs } from './presets/scenario.ts';

/** The conversation of the first test. */
let compacted: string;
const FILES = 12;
const task = (files: number): string => `Call read_file with {"path": "log-$index.txt"} ${files} times, one by one`;

const harness = useTurnHarness({ agent: { model: 'simulator/sim-8k', rules: ['Never touch pump 13.'] } });

beforeAll(async () => {
  await writeLogs(harness, FILES, 40);
  await harness.startWorker();
});

async function lastRequestBody(): Promise<string> {
  const { requests } = await harness.requests();
  return JSON.stringify(requests.findLast((request) => request.purpose === 'agent')?.body);
}

test('W1 R12 a task several times the window completes: no overflow, every request within the window, rules verbatim in each', async () => {
  const turn = await harness.runTask(task(FILES));
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  expect(turn.compactions).toBeGreaterThan(0);
  compacted = turn.conversationId;
  const { requests } = await harness.requests();
  for (const request of requests) expect(request.inputTokens).toBeLessThanOrEqual(8_192);
  for (const request of requests.filter((each) => each.purpose === 'agent' && each.body !== undefined)) {
    expect(JSON.stringify(request.body)).toContain('Never touch pump 13.');
  }
});

test('D6 the view holds one summary after several passes, and all originals stay readable', async () => {
  const conversationId = compacted;
  const body = await lastRequestBody();
  expect(body.split('[Summary of the earlier conversation]').length - 1).toBeLessThanOrEqual(1);
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const results = entries.filter((entry) => entry.kind === 'tool_result');
  expect(results).toHaveLength(FILES);
  const newest = /recall_open shows it by its id; the newest that was taken out is ([0-9a-f-]{36})/.exec(body)?.[1];
  expect(entries.map(({ entryId }) => entryId)).toContain(newest);
  expect(body).toContain('<earlier-results>');
  results.forEach((entry, index) => expect(textOf(entry.content)).toContain(`pump ${(index + 1) * 10_000 + 39} `));
  expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
  const read = await harness.database`
    select compaction_id as "compactionId", sum(input_tokens)::int as "inputTokens" from model_attempts
    where conversation_id = ${conversationId} and purpose = 'summary_part' group by 1 order by min(started_at)`;
  const summaries = await harness.client.log.summaries({ conversationId });
  expect(read.length).toBeGreaterThan(1);
  expect(
    summaries.flatMap(({ compactionId, inputTokens }) => (inputTokens > 0 ? [{ compactionId, inputTokens }] : [])),
  ).toEqual([...read]);
});

test('R30 what is sent while a summary is written enters once and in order, after the compaction', async () => {
  const answer = await harness.hold({ purpose: 'summary' });
  const before = await harness.requests();
  const sent = await harness.client.start(task(FILES));
  const { conversationId } = sent;
  await waitUntil('a summary is asked for', async () => (await harness.asked()).summary > before.summary);
  const messages = ['First of all.', 'Then this.', 'And this.'];
  for (const content of messages) await harness.client.conversation.send({ conversationId, content });
  expect(
    await harness.database`select from compactions where conversation_id = ${conversationId} and status = 'planned'`,
  ).toHaveLength(1);
  await answer();
  await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const marker = entries.findIndex(({ kind }) => kind === 'compaction');
  const said = entries.flatMap(({ kind, content }, index) =>
    kind === 'user' ? [{ text: textOf(content), isAfter: index > marker }] : [],
  );
  expect(marker).toBeGreaterThan(0);
  expect(said.slice(1)).toEqual(messages.map((each) => ({ text: each, isAfter: true })));
});

test('R9 O10 a summarizer of its own, with a smaller window than the conversation, reads it in parts, eight at once, and merges them', async () => {
  const other = await startTurnHarness({
    agent: { model: 'simulator/sim-64k', policy: { summary: { model: 'simulator/sim-8k' } } },
  });
  try {
    const { conversationId } = await other.client.start('Say ready');
    for (let number = 0; number < 20; number += 1) {
      const content = `Say ${number}. ${`valve ${number} `.repeat(800)}`;
      await other.client.conversation.send({ conversationId, content, mode: 'steer' });
    }
    const asked = await other.client.conversation.compact({ conversationId });
    const answer = await other.hold({ purpose: 'summary' });
    await other.startWorker();
    let most = 0;
    const look = async (): Promise<{ open: number; committed: boolean } | undefined> => {
      const [row] = await other.database<{ open: number; committed: boolean }[]>`
        select count(*) filter (where purpose = 'summary_part' and state = 'registered')::int as open,
          exists (select from compactions where status = 'committed') as committed from model_attempts`;
      most = Math.max(most, row?.open ?? 0);
      return row;
    };
    await waitUntil('eight parts are asked for', async () => (await look())?.open === 8);
    await answer();
    await waitUntil('the view is compacted', async () => (await look())?.committed === true);
    const parts = await other.database`select from compaction_parts where wave = 1 and kind <> 'flush'`;
    expect(parts.length).toBeGreaterThan(8);
    expect(most).toBe(8);
    await expectAllRead(other);
    await other.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  } finally {
    await other.stop();
  }
});

/** No request was larger than the summarizer's window, each entry was read by a part, and the merge read all parts. */
async function expectAllRead(of: TurnHarness): Promise<void> {
  const { requests } = await of.requests();
  const asked = requests.filter(({ purpose }) => purpose === 'summary');
  expect(asked.length).toBeGreaterThan(9);
  expect(asked.every(({ status, inputTokens }) => status === 200 && inputTokens <= 8_192)).toBe(true);
  expect(JSON.stringify(asked.at(-1)?.body)).toContain('"model":"sim-8k"');
  const parts = await of.database<{ kind: string; wave: number; first: number | null; last: number | null }[]>`
    select kind, wave, from_sequence as first, to_sequence as last from compaction_parts order by number`;
  expect(parts.at(-1)).toMatchObject({ kind: 'merge' });
  const reading = parts.filter(({ kind }) => kind !== 'merge');
  const covered = await of.database<{ sequence: number }[]>`
    select e.sequence from entries e, compactions c
    where e.kind in ('user', 'assistant', 'tool_result') and e.sequence <= c.covered_through_sequence
      and c.status = 'committed'`;
  expect(covered.length).toBeGreaterThan(8);
  for (const { sequence } of covered) {
    expect(reading.some(({ first, last }) => (first ?? 0) <= sequence && sequence <= (last ?? 0))).toBe(true);
  }
}
