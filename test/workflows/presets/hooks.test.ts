import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { BeforeCompaction, CompactionPreparation } from '../../../src/context/policy/compaction-hook.ts';
import { useTurnHarness } from '../../support/turn-harness.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { eventsOf, readTask, requestBodies, writeLogs } from './scenario.ts';

/** What the hooks of a test answer, in order. */
let hooks: BeforeCompaction[] = [];
const asked: CompactionPreparation[] = [];

const nth =
  (index: number): BeforeCompaction =>
  (preparation, limits) => {
    if (index === 0) asked.push(preparation);
    return hooks[index]?.(preparation, limits);
  };

const harness = useTurnHarness({
  agent: { model: 'simulator/sim-32k', preset: 'pi' },
  beforeCompaction: [nth(0), nth(1), nth(2)],
});

beforeAll(async () => {
  await writeLogs(harness, 3);
  await harness.startWorker();
});

beforeEach(() => {
  hooks = [];
  asked.length = 0;
});

/** Three files, then a compaction that the user asks for. */
async function compacted(conversationId?: string, task = readTask(3)): Promise<string> {
  const turn = await harness.runTask(task, conversationId === undefined ? {} : { conversationId });
  const command = await harness.client.conversation.compact({ conversationId: turn.conversationId });
  await harness.client.conversation.outcome({ ...command, timeoutMilliseconds: 120_000 });
  return turn.conversationId;
}

interface Committed {
  readonly details: unknown;
  readonly model: string | null;
  readonly summary: string;
  readonly files: { readonly read: readonly string[] };
}

async function newestOf(conversationId: string): Promise<Committed> {
  const [row] = await harness.database<Committed[]>`
    select details, model, summary, files from compactions
    where conversation_id = ${conversationId} and status = 'committed' order by number desc limit 1`;
  if (row === undefined) throw new Error('nothing was committed');
  return row;
}

test('P28 a hook is told first kept entry, messages, tokens and files; one that stays silent leaves the default', async () => {
  hooks = [() => undefined];
  const conversationId = await compacted();
  expect((await newestOf(conversationId)).model).toBe('simulator/sim-32k');
  const preparation = asked.at(-1);
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 100 });
  const kept = entries.find((entry) => entry.entryId === preparation?.firstKeptEntryId);
  expect(kept).toBeDefined();
  expect(preparation?.entriesToSummarize.at(-1)?.sequence).toBe((kept?.sequence ?? 0) - 1);
  expect(preparation?.tokensBefore).toBeGreaterThan(0);
  expect(preparation?.files.read).toContain('log-1.txt');
  expect(preparation?.previousSummary).toBeNull();
});

test('P28 a hook that brings a summary saves the call of a model', async () => {
  hooks = [() => ({ summary: '## Goal\nFROM THE HOOK' })];
  const before = (await requestBodies(harness, 'summary')).length;
  const { summary, model } = await newestOf(await compacted());
  expect(summary).toContain('FROM THE HOOK');
  expect(model).toBeNull();
  expect((await requestBodies(harness, 'summary')).length).toBe(before);
});

test('P28 a hook that brings a summary chooses what stays: a call with its results, and what comes behind it', async () => {
  hooks = [
    ({ entriesToSummarize }) => {
      const result = entriesToSummarize.filter(({ kind }) => kind === 'tool_result')[1];
      return { summary: 'READ ONE', ...(result !== undefined && { firstKeptEntryId: result.id }) };
    },
  ];
  const conversationId = await compacted();
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 100 });
  const second = entries.filter(({ kind }) => kind === 'assistant')[1];
  const [summary] = await harness.client.log.summaries({ conversationId });
  expect(summary?.firstKeptSequence).toBe(second?.sequence);
  expect(asked.at(-1)?.firstKeptEntryId).not.toBe(second?.entryId);
});

test('P25 P28 a hook that cancels changes nothing', async () => {
  hooks = [() => ({ cancel: true })];
  const conversationId = await compacted();
  expect(await harness.client.log.summaries({ conversationId })).toEqual([]);
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 100 });
  expect(entries.some((entry) => entry.kind === 'compaction')).toBe(false);
  const kinds = (await eventsOf(harness, conversationId)).map(({ kind }) => kind);
  expect(kinds).toContain('compaction_cancelled');
  expect(kinds).not.toContain('compaction_started');
});

test('P28 a hook that throws is asked three times and then skipped, and the others are asked in order', async () => {
  const order: number[] = [];
  hooks = [
    () => {
      order.push(1);
      throw new Error('broken');
    },
    () => {
      order.push(2);
      return { summary: '## Goal\nFROM THE SECOND' };
    },
    () => {
      order.push(3);
      return { cancel: true };
    },
  ];
  const conversationId = await compacted();
  const { summary } = await newestOf(conversationId);
  expect(summary).toContain('FROM THE SECOND');
  expect(order).toEqual([1, 1, 1, 2]);
  const skipped = (await eventsOf(harness, conversationId)).filter(({ kind }) => kind === 'compaction_hook_skipped');
  expect(skipped).toMatchObject([{ data: { code: 'Error' } }]);
});

test('P28 a stop ends a turn whose hook hangs, tells the hook, and leaves no compaction', async () => {
  let told: AbortSignal | undefined;
  hooks = [
    (_, { signal }) => {
      told = signal;
      // Does not look at its signal.
      return new Promise(() => undefined);
    },
    () => ({ summary: '## Goal\nOF ANOTHER HOOK' }),
  ];
  const { conversationId } = await harness.runTask(readTask(3));
  const command = await harness.client.conversation.compact({ conversationId });
  await waitUntil('the hook is asked', () => told !== undefined);
  await harness.client.conversation.stop({ conversationId });
  const turn = await harness.client.conversation.outcome({ ...command, timeoutMilliseconds: 10_000 });
  expect(turn).toMatchObject({ outcome: 'stopped' });
  await waitUntil('the hook is told', () => told?.aborted === true);
  expect(await harness.client.log.summaries({ conversationId })).toEqual([]);
});

test('P29 details of a hook and the lists of files are stored with the compaction and carried on to the next', async () => {
  hooks = [() => ({ details: { artifacts: ['a1', 'a2'] } })];
  const conversationId = await compacted();
  const first = await newestOf(conversationId);
  expect(first.details).toEqual({ artifacts: ['a1', 'a2'] });
  expect(first.files.read).toContain('log-1.txt');
  hooks = [() => undefined];
  await writeLogs(harness, 3, 1_600, 'other');
  await compacted(conversationId, 'Call read_file with {"path": "other-$index.txt"} 3 times, one by one');
  expect(asked.at(-1)?.previousDetails).toEqual({ artifacts: ['a1', 'a2'] });
  expect(asked.at(-1)?.previousSummary).not.toBeNull();
  const next = await newestOf(conversationId);
  expect(next.details).toEqual({ artifacts: ['a1', 'a2'] });
  expect(next.files.read).toContain('other-1.txt');
  for (const file of first.files.read) expect(next.files.read).toContain(file);
});

test('O24 hooks add lines before and after the instruction', async () => {
  hooks = [
    () => ({ contextLines: { prepend: ['BRANCH is main'] } }),
    () => ({ contextLines: { append: ['GOAL is to ship'] } }),
  ];
  await compacted();
  const body = (await requestBodies(harness, 'summary')).at(-1) ?? '';
  const instruction = body.indexOf('The transcript above');
  expect(body.indexOf('BRANCH is main')).toBeGreaterThan(-1);
  expect(body.indexOf('BRANCH is main')).toBeLessThan(instruction);
  expect(body.indexOf('GOAL is to ship')).toBeGreaterThan(instruction);
});
