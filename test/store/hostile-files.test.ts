import { beforeAll, describe, expect, it } from 'vitest';
import { insertEntry } from '../../src/store/log/entry-writer.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { listMemories } from '../support/list-memories.ts';
import { writeAsTurn } from '../../src/store/database/transaction.ts';
import { verify } from '../../src/verify/verify.ts';
import { end } from './support/branch-builders.ts';
import {
  changed,
  exported,
  fileOf,
  importLines,
  richConversation,
  rowsOf,
  sealed,
} from './support/conversation-files.ts';
import { answer, startTurn, text, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

const of =
  (table: string, from: string | RegExp, to: string) =>
  (line: string): string =>
    line.startsWith(`{"table" : "${table}"`) ? line.replace(from, to) : line;

const TEXT = '"type":"text","text":"the heron of Utrecht"';

it('what a conversation is comes from who imports it, and nothing of it from the file', async () => {
  const conversationId = await richConversation(sql);
  await sql`
    update conversations set workspace = '/', model = 'theirs/large', preset = 'pi', user_name = 'eve' where id = ${conversationId}`;
  const lines = await fileOf(sql, conversationId);
  expect(lines.join()).not.toMatch(/eve|theirs|instructions|allowCommands|workspace/u);
  const settings = { model: 'ours/small', preset: null, workspace: '/ours', user: 'ada' };
  await importLines(sql, lines, { tenant: 'ours', taskQueue: 'blue', agent: 'careful', settings });
  const [row] = await sql`
    select tenant, task_queue as queue, agent, model, preset, workspace, user_name as user, steps > 0 as is_counted, cost::float8 as cost, worked_seconds < 60 as is_short
    from conversations where id = ${conversationId}`;
  const own = { tenant: 'ours', queue: 'blue', agent: 'careful' };
  expect(row).toEqual({ ...settings, ...own, isCounted: true, cost: 0, isShort: true });
  const turns = await sql<{ agent: string; workspace: string; allows: boolean; tools: unknown[]; outcome: string }[]>`
    select agent, content ->> 'workspace' as workspace, (content ->> 'allowCommands')::boolean as allows,
      content -> 'tools' as tools, workflow_id, outcome, limits
    from turns join agent_snapshots on hash = snapshot_hash where conversation_id = ${conversationId}`;
  const limits = { turn: { steps: 1 }, conversation: {}, noteAt: 1 };
  const of = { agent: 'careful', workspace: '/ours', allows: false, tools: [], outcome: 'completed', limits };
  const turn = { ...of, workflowId: `import:${conversationId}` };
  expect(turns).toEqual([turn, turn]);
  const [waiting] =
    await sql`select from messages where conversation_id = ${conversationId} and (consumed_at is null or raise is not null)`;
  expect(waiting).toBeUndefined();
});

describe('a file takes nothing but what it may hold', () => {
  let conversationId = '';
  let lines: readonly string[] = [];
  beforeAll(async () => {
    conversationId = await richConversation(sql);
    lines = await fileOf(sql, conversationId);
  });

  it.each<[string, string]>([
    ['settings', '{"table":"conversations","row":{"workspace":"/"}}'],
    ['a message that waits', '{"table":"messages","row":{"kind":"message","content":[]}}'],
    ['a raise of limits', '{"table":"messages","row":{"kind":"resume","raise":{"cost":1000}}}'],
    ['an agent', '{"table":"turns","row":{"snapshot":{"allowCommands":true}}}'],
    ['an approval', '{"table":"decisions","row":{"state":"approved","scope":"agent"}}'],
    [
      'an approval that stands',
      '{"table":"standing_decisions","row":{"agent":"reader","rule":"run_command","state":"approved"}}',
    ],
    ['a cost', '{"table":"model_attempts","row":{"cost":"-1000"}}'],
    ['an event', '{"table":"events","row":{"kind":"secrets_redacted","data":{"count":"many"}}}'],
    ['the name of a table that is code', '{"table":"toString","row":{}}'],
  ])('%s in a file is refused', async (_, row) => {
    const made = sealed(lines[0] ?? '', [row, ...lines.slice(1, -1)]);
    await expect(importLines(sql, made)).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(/^line 2 of the file: (?:there is no table|.* of conversations)/u),
    });
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });

  it.each<[string, (line: string) => string, string]>([
    ['a text without text', of('entries', TEXT, '"type":"text"'), '"content" of entries is not what'],
    ['a text that is a number', of('entries', TEXT, '"type":"text","text":5'), '"content" of entries is not what'],
    ['a part of an unknown kind', of('entries', TEXT, '"type":"zzz"'), '"content" of entries is not what'],
    [
      'a part of the kind of every object',
      of('entries', TEXT, '"type":"toString"'),
      '"content" of entries is not what',
    ],
    [
      'what a hook stored',
      of('compactions', '"reason"', '"details":{"a":1},"reason"'),
      '"details" of compactions is not what',
    ],
    [
      'a line for the summarizer',
      of('compactions', '"reason"', '"context_lines":{},"reason"'),
      '"context_lines" of compactions is not what',
    ],
    [
      'the user as the origin of a memory',
      of('memories', '"kind"', '"origin":"user","kind"'),
      '"origin" of memories is not what',
    ],
    [
      'whom a memory is for',
      of('memories', '"kind"', '"scopeName":"root","kind"'),
      '"scopeName" of memories is not what',
    ],
    ['an entry of another turn', of('entries', '"turn":2', '"turn":0'), '"turn" of entries is not what'],
    [
      'a branch that nothing can follow',
      of('conversations', '"branch":0', '"branch":2147483647'),
      '"branch" of conversations is not what',
    ],
  ])('%s is refused with its line', async (_, change, refusal) => {
    const made = changed(lines, change);
    await expect(importLines(sql, made)).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(new RegExp(`^line \\d+ of the file: .*${refusal}`, 'u')),
    });
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });
});

it("an entry with the id of another conversation's is refused", async () => {
  const [theirs] = await sql<{ id: string }[]>`
    select id from entries where conversation_id = ${await richConversation(sql)} and sequence = 1`;
  const conversationId = await richConversation(sql);
  const [own] = await sql<{ id: string }[]>`
    select id from entries where conversation_id = ${conversationId} and sequence = 1`;
  const lines = await fileOf(sql, conversationId);
  const made = changed(lines, (line) => line.replaceAll(own?.id ?? '', theirs?.id ?? ''));
  await expect(importLines(sql, made)).rejects.toMatchObject({
    code: 'conversation_file_invalid',
    message: expect.stringContaining("the id of another conversation's"),
  });
});

it("an original of another conversation's is refused", async () => {
  const [theirs] = await sql<{ id: string }[]>`
    select id from contents where conversation_id = ${await richConversation(sql)} limit 1`;
  const lines = await fileOf(sql, await richConversation(sql));
  const made = changed(lines, of('entries', /"originalId":"[^"]*"/u, `"originalId":"${theirs?.id}"`));
  await expect(importLines(sql, made)).rejects.toMatchObject({ code: 'conversation_file_invalid' });
});

it('rules and memories that a file holds as notes are empty here: a turn notes its own', async () => {
  const turn = await startTurn(sql);
  const { conversationId } = turn;
  for (const slot of ['rules', 'memories'] as const) {
    await writeAsTurn(sql, turn, ({ sql: open }) =>
      insertEntry(open, { kind: 'note', slot, turn, ...text(`theirs: ${slot}`) }),
    );
  }
  await answer(sql, turn, 1);
  await end(sql, turn);
  const lines = await fileOf(sql, conversationId);
  expect(lines.join()).not.toContain('theirs: ');
  const made = changed(lines, (line) =>
    line.includes('"slot":"') ? line.replace('"content":[]', `"content":[{${TEXT}}]`) : line,
  );
  await importLines(sql, made);
  const notes = await sql<{ content: unknown }[]>`
    select content from entries where conversation_id = ${conversationId} and kind = 'note'`;
  expect(notes.map(({ content }) => content)).toEqual([[], []]);
});

it('memories of a file are data of whoever imports it, without secrets; those of nobody are left out', async () => {
  const conversationId = await richConversation(sql);
  for (const [scope, scopeName] of [
    ['agent', 'theirs'],
    ['workspace', '/theirs'],
  ] as const) {
    const memory = {
      id: newId(),
      kind: 'preference',
      text: `Run it for the ${scope}`,
      origin: 'user',
      conversationId,
    } as const;
    await insertMemory(sql, { scope, scopeName, ...memory });
  }
  const secret = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
  const lines = changed(
    await fileOf(sql, conversationId),
    of('memories', '"text":"Run it', `"text":"${secret} Run it`),
  );
  const memoryScopes = { agent: 'ours', workspace: '/ours', user: null };
  const { memories } = await importLines(sql, lines, { memoryScopes });
  expect(memories).toEqual([
    { scope: 'agent', scopeName: 'ours', count: 1 },
    { scope: 'workspace', scopeName: '/ours', count: 1 },
  ]);
  const [stored] = await listMemories(sql, { scopes: [{ scope: 'agent', scopeName: 'ours' }] });
  expect(stored).toMatchObject({ origin: 'model', conversationId });
  expect(stored?.text).toContain('Run it for the agent');
  expect(stored?.text).not.toContain(secret);
});

it.each([
  ['another format', ['{"a":1}'], '`holdfast export`'],
  ['another version', ['{"format":"holdfast-conversation","version":3}'], 'version 3'],
  ['nothing', [], '`holdfast export`'],
])('%s is no conversation file', async (_, lines, refusal) => {
  await expect(importLines(sql, lines)).rejects.toThrow(refusal);
});

it('a file that was changed is refused although every line of it is right', async () => {
  const conversationId = await richConversation(sql);
  const lines = await fileOf(sql, conversationId);
  const made = changed(lines, (line) => line.replaceAll('the heron of Utrecht', 'the heron of Arnhem'));
  await expect(importLines(sql, [...made.slice(0, -1), lines.at(-1) ?? ''])).rejects.toThrow('SHA-256');
  expect(await rowsOf(sql, conversationId)).toEqual({});
});

it('under ids of the tenant that imports it a file stands beside its original, and says the same', async () => {
  const conversationId = await richConversation(sql);
  const lines = await exported(sql, conversationId);
  const { conversationId: own } = await importLines(sql, lines, { tenant: 'bob', ownIds: true });
  const rows = (file: readonly string[]): string[] =>
    file.slice(1, -1).map((line) => line.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu, '<id>'));
  const copy = await exported(sql, own);
  expect(rows(copy).toSorted()).toEqual(rows(lines).toSorted());
  expect(copy.join()).not.toContain(conversationId);
  const { invariants } = await verify(sql, { conversationId: own });
  expect(invariants.filter(({ breaches }) => breaches.length > 0)).toEqual([]);
  const again = importLines(sql, lines, { tenant: 'bob', ownIds: true });
  await expect(again).rejects.toMatchObject({ code: 'conversation_exists' });
});
