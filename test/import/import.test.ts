import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { importSessions } from '../../src/import/import-sessions.ts';
import type { ImportedSession } from '../../src/import/import-sessions.ts';
import { verify } from '../../src/verify/verify.ts';
import { parseOutput } from '../cli/cli-result.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { fixture, readRecords } from './read-fixture.ts';

let harness: TurnHarness;
let directory: string;

beforeAll(async () => {
  harness = await startTurnHarness();
  directory = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
});

afterAll(async () => {
  await harness.stop();
  await rm(directory, { recursive: true });
});

async function importFile(file: string): Promise<readonly ImportedSession[]> {
  const environment = { HOLDFAST_SIMULATOR_URL: harness.simulatorUrl };
  const configuration = loadConfiguration({ directory, environment });
  const settings = { model: null, preset: null, workspace: harness.workspace, user: null };
  const request = { file, configuration, taskQueue: 'blue', agent: 'default', settings };
  const imported = await importSessions(harness.database, request);
  return imported.conversations;
}

describe('a recorded session becomes a conversation', () => {
  test('with every message, answer, call, result and image as it was', async () => {
    const [conversation] = await importFile(fixture('claude-code.jsonl'));
    const { records } = await readRecords(fixture('claude-code.jsonl'));
    const { items: entries } = await harness.client.log.entries({ conversationId: conversation?.conversationId ?? '' });
    const said = records.flatMap((record) =>
      'content' in record ? [{ kind: record.kind, content: record.content }] : [],
    );
    expect(entries.map(({ kind, content }) => ({ kind, content }))).toEqual(said);
    expect(entries.filter((entry) => entry.kind === 'tool_result')).toMatchObject([
      { callNumber: 1, callIndex: 0, toolName: 'Read', isError: false },
      { callNumber: 1, callIndex: 1, toolName: 'Screenshot', isError: true },
    ]);
    expect(conversation).toMatchObject({ turns: 1, entries: 6 });
    const [row] = await harness.database`
      select task_queue as queue from conversations where id = ${conversation?.conversationId ?? ''}`;
    expect(row).toEqual({ queue: 'blue' });
  });

  test('every session of a file a conversation of its own, named by its first message', async () => {
    const conversations = await importFile(fixture('openai-messages.jsonl'));
    const described = await Promise.all(
      conversations.map(({ conversationId }) => harness.client.conversation.get({ conversationId })),
    );
    expect(described.map(({ title }) => title)).toEqual(['A table for 4 at 19:30, please.', 'Cancel it.']);
  });

  test('a call that nobody answered is closed, and a recording that begins with an answer has a beginning', async () => {
    const file = join(directory, 'odd.jsonl');
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'user', content: 'Never mind.' },
    ];
    await writeFile(file, messages.map((message) => JSON.stringify(message)).join('\n'));
    const [conversation] = await importFile(file);
    const { items: entries } = await harness.client.log.entries({ conversationId: conversation?.conversationId ?? '' });
    expect(entries.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'tool_result', 'user']);
  });

  test('entries have the times of the recording; the turn keeps when it was imported', async () => {
    const file = join(directory, 'times.jsonl');
    const said = [
      ['2024-02-06T09:00:00.000Z', 'The boat is blue.'],
      ['2024-02-06T09:00:01.000Z', 'It is red now.'],
      ['never', 'A line without a time.'],
      ['2999-01-01T00:00:00Z', 'A clock that ran ahead.'],
      ['2024-02-05T00:00:00Z', 'A clock that was set back.'],
      ['2024-03-01T09:00:00.000Z', 'The last.'],
    ];
    const lines = said.map(([timestamp, content]) => ({
      type: 'user',
      sessionId: 's',
      timestamp,
      message: { role: 'user', content },
    }));
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const before = Date.now();
    const [conversation] = await importFile(file);
    const { conversationId } = conversation ?? { conversationId: '' };
    const { items: entries } = await harness.client.log.entries({ conversationId });
    const [first, second] = ['2024-02-06T09:00:00.000Z', '2024-02-06T09:00:01.000Z'];
    expect(entries.map(({ createdAt }) => createdAt)).toEqual([
      first,
      ...Array.from({ length: 4 }, () => second),
      '2024-03-01T09:00:00.000Z',
    ]);
    expect(await harness.client.conversation.get({ conversationId })).toMatchObject({ createdAt: first });
    // Retention counts from `active_at`: what is imported is not deleted at once.
    const [kept] = await harness.database<{ activeAt: Date; begunAt: Date }[]>`
      select c.active_at, t.begun_at from conversations c join turns t on t.conversation_id = c.id
      where c.id = ${conversationId}`;
    expect(kept?.activeAt.getTime()).toBeGreaterThan(before - 60_000);
    expect(kept?.begunAt.getTime()).toBeGreaterThan(before - 60_000);
    // No workflow ran for it, so that Temporal has no history to name.
    expect(await harness.client.conversation.delete({ conversationId })).toEqual([]);
  });

  test('a database with imported conversations passes every check of holdfast verify', async () => {
    const { invariants, conversations } = await verify(harness.database);
    expect(conversations).toBeGreaterThanOrEqual(4);
    expect(invariants.filter(({ breaches }) => breaches.length > 0)).toEqual([]);
  });
});

test('an imported session goes on under another preset: it is compacted, and the agent answers', async () => {
  const file = join(directory, 'long.jsonl');
  const lines = [{ role: 'user', content: 'Read the ledger, page by page.' }] as Record<string, unknown>[];
  for (let page = 1; page <= 60; page += 1) {
    const id = `call_${page}`;
    const text = `page ${page}: ${`entry ${page * 1_117} paid to account ${page}. `.repeat(60)}`;
    const read = { name: 'read_file', arguments: `{"path":"ledger/${page}.txt"}` };
    lines.push({ role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: read }] });
    lines.push({ role: 'tool', tool_call_id: id, content: text });
  }
  lines.push({ role: 'assistant', content: 'All sixty pages are read.' });
  await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const flags = ['--model', 'simulator/sim-32k', '--preset', 'pi', '--json', '--database-url', harness.databaseUrl];
  const imported = await runInProcess(['import', file, ...flags], { environment: harness.environment, directory });
  const { conversations } = parseOutput(
    imported,
    z.object({ conversations: z.array(z.object({ conversationId: z.string(), entries: z.literal(122) })).length(1) }),
  );
  await harness.startWorker();
  const conversationId = conversations[0]?.conversationId ?? '';
  const turn = await harness.runTask('Say that you are ready.', { conversationId });
  expect(turn).toMatchObject({ outcome: 'completed', compactions: 1 });
  const [served] = await harness.database<{ preset: string; model: string }[]>`
    select preset, model from turns where conversation_id = ${conversationId} order by epoch desc limit 1`;
  expect(served).toEqual({ preset: 'pi', model: 'simulator/sim-32k' });
});

test('import refuses what lab refuses, with the same exit code, and leaves nothing behind', async () => {
  const file = join(directory, 'notes.txt');
  await writeFile(file, 'no session');
  const { items: before } = await harness.client.conversation.list();
  const result = await runInProcess(['import', file, '--json'], { environment: harness.environment, directory });
  expect(result.code).toBe(4);
  expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'session_format_unknown' } });
  expect((await harness.client.conversation.list()).items).toHaveLength(before.length);
});
