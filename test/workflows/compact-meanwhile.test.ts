import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { verify } from '../../src/verify/verify.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const FILES = 12;

/** A number that only the file holds. */
const pumpOf = (file: number): number => 70_000 + file * 31;

/** A task that the simulator's reader finishes only with what its context still holds of every file. */
const readingTask = (files: number): string =>
  [
    'Read these files one by one, each to its end, and write the report to report.md: a table with one row per file.',
    '',
    ...Array.from(
      { length: files },
      (_, index) => `${index + 1}. log-${index + 1}.txt; pump: the number after "pump of log ${index + 1} is"`,
    ),
    '',
    'For each file, note:',
    '- pump: see each file',
    '',
    'Do not guess: write "unknown" where you do not know.',
  ].join('\n');

const harness = useTurnHarness({
  agent: { model: 'simulator/sim-64k', tools: ['read_file', 'write_file', 'recall_search', 'recall_open'] },
});

beforeAll(async () => {
  for (let file = 1; file <= FILES; file += 1) {
    const lines = Array.from({ length: 480 }, (_, index) => `valve ${file * 100 + index} opens at ${index} bar\n`);
    lines.splice(10, 0, `pump of log ${file} is ${pumpOf(file)}\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
});

async function expectReport(files: number): Promise<void> {
  const report = await readFile(join(harness.workspace, 'report.md'), 'utf8');
  for (let file = 1; file <= files; file += 1) expect(report).toContain(String(pumpOf(file)));
}

test('R10 R14 a task larger than the window is answered from its summaries, through a compaction that was asked for meanwhile', async () => {
  const sent = await harness.client.start(readingTask(FILES), { preset: 'default' });
  const { conversationId } = sent;
  const reads = async (): Promise<number> => {
    const [row] = await harness.database<{ count: number }[]>`
        select count(*)::int from entries where conversation_id = ${conversationId} and tool_name = 'read_file'`;
    return row?.count ?? 0;
  };
  await waitUntil('some files are read', async () => (await reads()) >= 5);
  const asked = await harness.client.conversation.compact({ conversationId });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 100_000 });
  if (turn.state === 'served') throw new TypeError('a message is taken by a turn');
  expect(turn).toMatchObject({ outcome: 'completed', reason: null });
  // It may have joined a compaction that was under way (R4).
  const [message] = await harness.database`select turn_id from messages where id = ${asked.messageId}`;
  expect(message).toEqual({ turnId: turn.turnId });
  expect(turn.compactions).toBeGreaterThan(0);
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 400 });
  expect(new Set(entries.map(({ turnId }) => turnId))).toEqual(new Set([turn.turnId]));
  const { invariants } = await verify(harness.database, { conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  expect((await harness.client.log.summaries({ conversationId })).at(-1)).toMatchObject({ preset: 'default' });
  await expectReport(FILES);
});
