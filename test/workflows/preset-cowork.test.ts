import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { listMemories } from '../support/list-memories.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startDyingWorkers } from '../support/worker-deaths.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { expectDeathsInEach, writeLogs } from './presets/scenario.ts';

const FILES = 14;
const TASK = `Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one\nSay all read`;

const harness = useTurnHarness({ agent: { model: 'simulator/sim-16k', preset: 'cowork' } });

beforeAll(async () => {
  await mkdir(join(harness.workspace, '.cowork'));
  await writeLogs(harness, FILES, 130);
});

interface Committed {
  readonly number: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string;
}

async function committed(conversationId: string): Promise<readonly Committed[]> {
  return harness.database<Committed[]>`
    select number, tokens_before, tokens_after, summary from compactions
    where conversation_id = ${conversationId} and status = 'committed' order by number`;
}

async function expectHandedOver(conversationId: string): Promise<void> {
  const passes = await committed(conversationId);
  expect(passes.length).toBeGreaterThan(0);
  const window = 16 * 1_024;
  for (const pass of passes) {
    expect(pass.tokensBefore).toBeGreaterThan(window * 0.88);
    expect(pass.tokensAfter).toBeLessThan(window * 0.56);
    expect(pass.summary).toContain('## Recommended Next Step');
    expect(pass.summary).toContain('1. "Call read_file with');
  }
  const scopes = [{ scope: 'workspace', scopeName: harness.workspace }] as const;
  const memories = await listMemories(harness.database, { scopes, kinds: ['summary'] });
  const own = memories.filter((memory) => memory.conversationId === conversationId && memory.sourceId === memory.id);
  expect(own.map(({ text }) => text).toSorted()).toEqual(passes.map(({ summary }) => summary).toSorted());
  const [log] = await readdir(join(harness.workspace, '.cowork'));
  const written = await readFile(join(harness.workspace, '.cowork', log ?? ''), 'utf8');
  for (const memory of own) expect(written.split(`<!-- summary ${memory.id} `)).toHaveLength(2);
}

test('C14, C15, C18 90 % goes to 50 %, the summary stands after the first message and is a memory, also when a worker dies in every activity', async () => {
  const sent = await harness.client.start(TASK);
  const deaths = await startDyingWorkers(harness);
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 400_000 });
  expect(turn.outcome).toBe('completed');
  expectDeathsInEach(deaths);
  await expectAllHolds(harness);
  await expectHandedOver(sent.conversationId);
  const { requests } = await harness.requests();
  expect(requests.filter(({ status }) => status === 400)).toEqual([]);
  const afterPass = requests.filter(({ purpose }) => purpose === 'agent').map(({ body }) => JSON.stringify(body));
  const shown = afterPass.filter((body) => body.includes('<cowork_compaction_summary>'));
  expect(shown.length).toBeGreaterThan(0);
  for (const body of shown) {
    expect(body.split('<cowork_compaction_summary>')).toHaveLength(2);
    expect(body.indexOf('Call read_file')).toBeLessThan(body.indexOf('<cowork_compaction_summary>'));
  }
}, 900_000);

test('C11, C18, C19 the events tell flush, commit, the summary, what was saved and removed, and whether it came in time', async () => {
  const rows = await harness.database<{ kind: string; data: Record<string, unknown> }[]>`
    select kind, data from events where kind in ('compaction_started', 'memory_flushed', 'compaction_committed') order by number`;
  const kinds = rows.map(({ kind }) => kind);
  expect(kinds.indexOf('compaction_started')).toBeLessThan(kinds.indexOf('memory_flushed'));
  expect(kinds.indexOf('memory_flushed')).toBeLessThan(kinds.indexOf('compaction_committed'));
  const done = rows.find(({ kind }) => kind === 'compaction_committed')?.data ?? {};
  expect(done).toMatchObject({ proactive: true, reason: 'threshold' });
  expect(done['tokensSaved']).toBe(Number(done['tokensBefore']) - Number(done['tokensAfter']));
  expect(Number(done['messagesChanged'])).toBeGreaterThan(3);
  const [pass] = await harness.database<Record<string, unknown>[]>`
    select c.summary, c.tokens_before, c.tokens_after, (select count(*)::int from entries e
      where e.conversation_id = c.conversation_id and e.sequence > 1 and e.sequence <= c.covered_through_sequence
        and e.kind in ('user', 'assistant', 'tool_result')) as removed
    from compactions c where c.id = ${String(done['compactionId'])}`;
  expect(pass?.['summary']).toContain('## Recommended Next Step');
  expect(pass).toMatchObject({ tokensBefore: done['tokensBefore'], tokensAfter: done['tokensAfter'] });
  expect(done['messagesRemoved']).toBe(pass?.['removed']);
});
