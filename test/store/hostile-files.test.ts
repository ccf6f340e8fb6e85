import { describe, expect, it } from 'vitest';
import { importExportedConversation } from '../../src/store/conversation-file/import-exported.ts';
import type { Database } from '../../src/store/database.ts';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { newId } from '../../src/store/ids.ts';
import { insertMemory, listMemories } from '../../src/store/memories.ts';
import { each, exported, richConversation, rowsOf } from './support/conversation-files.ts';
import { useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** A file without a checksum, its lines changed; the conversation is deleted. */
async function changedFile(conversationId: string, change: (line: string) => string): Promise<string[]> {
  const lines = await exported(sql, conversationId);
  await deleteConversation(sql, conversationId);
  const rows = lines.slice(1, -1);
  const changed = rows.map(change);
  expect(changed).not.toEqual(rows);
  return [(lines[0] ?? '').replace(/"version":\d+/, '"version":2'), ...changed, JSON.stringify({ rows: rows.length })];
}

const of =
  (table: string, from: string | RegExp, to: string) =>
  (line: string): string =>
    line.startsWith(`{"table" : "${table}"`) ? line.replace(from, to) : line;

const TEXT = '"type":"text","text":"the heron of Utrecht"';

describe('a file that somebody made is refused with its line', () => {
  it.each<[string, (line: string) => string, string]>([
    [
      'a command for a workflow id',
      of('turns', /agent-turn:/u, "x'; touch /tmp/pwned; echo '"),
      'turns.workflow_id is neither',
    ],
    [
      'the workflow of another conversation',
      of('turns', /agent-turn:[^"]*/u, `agent-turn:${newId()}`),
      'turns.workflow_id is neither',
    ],
    ['a text without text', of('messages', TEXT, '"type":"text"'), 'messages.content is not what'],
    ['a text that is a number', of('entries', TEXT, '"type":"text","text":5'), 'entries.content is not what'],
    ['a part of an unknown kind', of('entries', TEXT, '"type":"zzz"'), 'entries.content is not what'],
    ['a part of the kind of every object', of('entries', TEXT, '"type":"toString"'), 'entries.content is not what'],
    [
      'a late result without text',
      of('late_tool_results', ',"text":"too late"', ''),
      'late_tool_results.content is not what',
    ],
    [
      'an epoch that nothing can follow',
      of('conversations', /"epoch":\d+/u, '"epoch":2147483647'),
      'conversations.epoch is so high',
    ],
    [
      'a turn whose epoch nothing can follow',
      of('turns', /"epoch":\d+/u, '"epoch":2147483647'),
      'turns.epoch is so high',
    ],
    [
      'a conversation with an open turn',
      of('conversations', '"active_turn_id":null', `"active_turn_id":"${newId()}"`),
      'has an open turn',
    ],
    ['an open turn', of('turns', /"outcome":"completed"/u, '"outcome":null'), 'the turn is open'],
  ])('%s', async (_, change, said) => {
    const conversationId = await richConversation(sql);
    const lines = await changedFile(conversationId, change);
    await expect(importExportedConversation(sql, each(lines))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(new RegExp(`^line \\d+ of the file: .*${said}`, 'u')),
    });
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });

  it("a late result whose original is another conversation's", async () => {
    const [content] = await sql<{ id: string }[]>`
      select id from contents where conversation_id = ${await richConversation(sql)}`;
    const theirs = of('late_tool_results', /"original_id":"[^"]*"/u, `"original_id":"${content?.id}"`);
    const lines = await changedFile(await richConversation(sql), theirs);
    await expect(importExportedConversation(sql, each(lines))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(
        /^line \d+ of the file: a row of late_tool_results belongs to another conversation/u,
      ),
    });
  });
});

it('memories of a file are data whoever they are said to be from, without secrets, and counted by whom they are shown to', async () => {
  const conversationId = await richConversation(sql);
  const scope = { scope: 'agent', scopeName: conversationId } as const;
  const memory = { id: newId(), kind: 'preference', text: 'Run it', origin: 'user', conversationId } as const;
  await insertMemory(sql, { ...scope, ...memory });
  const secret = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
  const lines = await changedFile(conversationId, of('memories', '"text":"Run it"', `"text":"Run it with ${secret}"`));
  const { memories } = await importExportedConversation(sql, each(lines));
  expect(memories).toEqual([
    { ...scope, count: 1 },
    { scope: 'user', scopeName: conversationId, count: 1 },
  ]);
  const [stored] = await listMemories(sql, { scopes: [scope] });
  expect(stored).toMatchObject({ id: memory.id, origin: 'tool' });
  expect(stored?.text).toMatch(/^Run it with /u);
  expect(stored?.text).not.toContain(secret);
});
