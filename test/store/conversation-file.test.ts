import { describe, expect, it } from 'vitest';
import { importExportedConversation } from '../../src/store/conversation-file/import-exported.ts';
import {
  DERIVED_TABLES,
  FENCED_TABLES,
  TABLES_AFTER,
  TABLES_BEFORE,
} from '../../src/store/conversation-file/tables.ts';
import type { Database } from '../../src/store/database.ts';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { newId } from '../../src/store/ids.ts';
import { insertMemory, listMemories, renewMemory } from '../../src/store/memories.ts';
import { readSaidWords } from '../../src/store/said-words.ts';
import { ODD, RAW, each, exported, richConversation, rowsOf } from './support/conversation-files.ts';
import { continueConversation, useTestStore, said, send, startTurn, step, text } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

function isEvent(line: string, number: number): boolean {
  return line.startsWith('{"table" : "events"') && line.includes(`"number":${number},`);
}

/** As an older version wrote them: 1 had no end, 2 no checksum in it. */
function ofVersion(version: number, lines: readonly string[]): string[] {
  const header = (lines[0] ?? '').replace(/"version":\d+/, `"version":${version}`);
  const end = version === 1 ? [] : [JSON.stringify({ rows: lines.length - 2 })];
  return [header, ...lines.slice(1, -1), ...end];
}

describe('a conversation file', () => {
  it('comes back equal: originals byte for byte, NUL, lone surrogates, summaries, memories', async () => {
    const conversationId = await richConversation(sql);
    const lines = await exported(sql, conversationId);
    expect(lines[1]).toContain('"user_name":"ada"');
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
    const before = await said(sql, conversationId);
    expect(before.join()).toContain(ODD);
    await deleteConversation(sql, conversationId);
    const imported = await importExportedConversation(sql, each(lines));
    expect(imported).toEqual({
      conversationId,
      turns: 2,
      entries: before.length,
      memories: [{ scope: 'user', scopeName: conversationId, count: 1 }],
    });
    expect(await exported(sql, conversationId)).toEqual(lines);
    expect(await said(sql, conversationId)).toEqual(before);
    const [raw] = await sql<{ bytes: Uint8Array }[]>`
      select string_agg(p.data, '' order by p.number) as bytes from content_pieces p join contents o on o.id = p.content_id
      join entries e on e.original_id = o.id where o.conversation_id = ${conversationId}`;
    expect(Buffer.compare(Buffer.from(raw?.bytes ?? []), RAW)).toBe(0);
    const [memory] = await listMemories(sql, { scopes: [{ scope: 'user', scopeName: conversationId }] });
    expect(memory?.text).toBe(ODD);
    // It goes on as any other: the fences know where it stands.
    await send(sql, { conversationId });
    await step(sql, await continueConversation(sql, conversationId), 1);
  });

  it('brings words that nobody said here: only what is said afterwards counts as the words of the user', async () => {
    const conversationId = await richConversation(sql);
    const wordsOf = async (whose: 'user' | 'tools'): Promise<readonly string[]> => {
      const words: string[] = [];
      for await (const page of readSaidWords(sql, conversationId, whose)) words.push(...page.map((said) => said.text));
      return words;
    };
    const before = await wordsOf('user');
    const lines = await exported(sql, conversationId);
    await deleteConversation(sql, conversationId);
    await importExportedConversation(sql, each(lines));
    await send(sql, { conversationId, ...text('said here') });
    await continueConversation(sql, conversationId);
    expect(await wordsOf('user')).toEqual(['said here']);
    expect(before.length).toBeGreaterThan(0);
    expect(await wordsOf('tools')).toEqual(expect.arrayContaining([...before]));
  });

  it('leaves out memories whose place one of another conversation took, by whatever chain, and comes back equal', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    const workspace = { scope: 'workspace', scopeName: conversationId } as const;
    const remember = async (of: string, supersedes: readonly string[] = []): Promise<string> => {
      const what = { id: newId(), kind: 'fact', text: 'a fact', origin: 'tool', conversationId: of } as const;
      await insertMemory(sql, { ...workspace, ...what, supersedes });
      return what.id;
    };
    const first = await remember(conversationId);
    const second = await remember(conversationId, [first]);
    const newer = await remember(other, [second]);
    const older = await remember(conversationId);
    const inForce = await remember(conversationId, [older]);
    const lines = await exported(sql, conversationId);
    await deleteConversation(sql, conversationId);
    await importExportedConversation(sql, each(lines));
    expect(await exported(sql, conversationId)).toEqual(lines);
    const scopes = [workspace];
    const all = await listMemories(sql, { scopes, all: true });
    expect(all.map(({ id }) => id).toSorted()).toEqual([newer, older, inForce].toSorted());
    const standing = await listMemories(sql, { scopes });
    expect(standing.map(({ id }) => id).toSorted()).toEqual([newer, inForce].toSorted());
    // A file of an older version names a successor that it does not hold.
    await deleteConversation(sql, conversationId);
    const dangling = lines.map((line) =>
      line.includes(`"id":"${inForce}"`) ? line.replace('"superseded_by":null', `"superseded_by":"${newId()}"`) : line,
    );
    expect(dangling).not.toEqual(lines);
    await importExportedConversation(sql, each(ofVersion(2, dangling)));
    expect((await listMemories(sql, { scopes, all: true })).map(({ id }) => id)).toEqual([newer]);
  });

  it('leaves a memory as it is that another conversation has taken over since', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    const scope = { scope: 'workspace', scopeName: conversationId } as const;
    const memory = { ...scope, id: newId(), kind: 'fact', text: 'a fact', origin: 'model', conversationId } as const;
    await insertMemory(sql, memory);
    const lines = await exported(sql, conversationId);
    await sql.begin((open) => renewMemory(open, { ...memory, origin: 'user', conversationId: other }));
    await deleteConversation(sql, conversationId);
    await importExportedConversation(sql, each(lines));
    expect(await listMemories(sql, { scopes: [scope] })).toMatchObject([
      { id: memory.id, origin: 'user', conversationId: other },
    ]);
  });

  it('is refused when the conversation is here, when it was tampered with, and leaves nothing behind', async () => {
    const conversationId = await richConversation(sql);
    const lines = await exported(sql, conversationId);
    await expect(importExportedConversation(sql, each(lines))).rejects.toMatchObject({ code: 'conversation_exists' });
    await deleteConversation(sql, conversationId);
    const other = await startTurn(sql);
    const reaching = lines.map((line) =>
      line.startsWith('{"table" : "events"') ? line.replaceAll(conversationId, other.conversationId) : line,
    );
    expect(reaching).not.toEqual(lines);
    await expect(importExportedConversation(sql, each(reaching))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(/line \d+ of the file: a row of events belongs to another conversation/),
    });
    const cut = [...lines.slice(0, 5), lines[5]?.slice(0, 40) ?? ''];
    await expect(importExportedConversation(sql, each(cut))).rejects.toThrow('may have been cut off');
    const short = lines.slice(0, -2);
    await expect(importExportedConversation(sql, each(short))).rejects.toThrow('its end is missing');
    const lost = lines.filter((_, index) => index !== lines.length - 2);
    await expect(importExportedConversation(sql, each(lost))).rejects.toThrow(/it has \d+ rows, of \d+/);
    const untimed = lines.map((line) => line.replace(/"created_at":"[^"]*"/, '"created_at":"secret"'));
    const refusal = await importExportedConversation(sql, each(untimed)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'conversation_file_invalid', message: expect.stringContaining('22007') });
    expect(String(refusal)).not.toContain('secret');
    const gap = lines.filter((line) => !line.includes('"sequence":3,'));
    await expect(importExportedConversation(sql, each(gap))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(/^line \d+ of the file: .*\(the next sequence is 3, not 4\): one is missing/),
    });
    await expect(importExportedConversation(sql, each(['{"a":1}']))).rejects.toThrow('`holdfast export`');
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });

  it('is looked through before the conversation that is here is named: one that is cut or changed is no reason to delete it', async () => {
    const conversationId = await richConversation(sql);
    const lines = await exported(sql, conversationId);
    const damaged = {
      cut: lines.slice(0, -1),
      torn: [...lines.slice(0, -1), '{"ro'],
      short: lines.filter((_, index) => index !== lines.length - 2),
      changed: lines.map((line) => line.replaceAll('the heron of Utrecht', 'the heron of Arnhem')),
    };
    for (const [how, given] of Object.entries(damaged)) {
      expect(given, how).not.toEqual(lines);
      await expect(importExportedConversation(sql, each(given)), how).rejects.toMatchObject({
        code: 'conversation_file_invalid',
      });
    }
    const whole = importExportedConversation(sql, each(lines));
    await expect(whole).rejects.toMatchObject({ code: 'conversation_exists' });
    await expect(whole).rejects.not.toThrow('delete');
  });

  it.each([
    ['a missing entry', (line: string) => (line.includes('"sequence":4,') ? [] : [line]), 'next sequence is 4, not 5'],
    [
      'a doubled entry',
      (line: string) => (line.includes('"sequence":4,') ? [line, line] : [line]),
      'next sequence is 5',
    ],
    ['a missing event', (line: string) => (isEvent(line, 3) ? [] : [line]), 'not follow from the lines before'],
    [
      'a doubled event',
      (line: string) => (isEvent(line, 3) ? [line, line] : [line]),
      'not follow from the lines before',
    ],
    ['a changed text', (line: string) => [line.replaceAll('the heron of Utrecht', 'the heron of Arnhem')], 'SHA-256'],
  ])('%s is the fault of the file, in its line', async (_, change, said) => {
    const conversationId = await richConversation(sql);
    const lines = await exported(sql, conversationId);
    await deleteConversation(sql, conversationId);
    const changed = lines.flatMap(change);
    expect(changed).not.toEqual(lines);
    await expect(importExportedConversation(sql, each(changed))).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringMatching(new RegExp(`^line \\d+ of the file: .*${said}`)),
    });
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });

  it('refuses JSON of another shape than Holdfast writes, also in a file without a checksum', async () => {
    const conversationId = await richConversation(sql);
    const older = ofVersion(2, await exported(sql, conversationId));
    await deleteConversation(sql, conversationId);
    const misshapen = older.map((line) => line.replace('"type":"text"', '"type":7'));
    expect(misshapen).not.toEqual(older);
    await expect(importExportedConversation(sql, each(misshapen))).rejects.toThrow(
      /line \d+ of the file: messages\.content is not what/,
    );
  });

  it('of older versions is read too: without an end, and without a checksum', async () => {
    const conversationId = await richConversation(sql);
    const lines = await exported(sql, conversationId);
    for (const version of [1, 2]) {
      await deleteConversation(sql, conversationId);
      await importExportedConversation(sql, each(ofVersion(version, lines)));
      expect(await exported(sql, conversationId)).toEqual(lines);
    }
    await deleteConversation(sql, conversationId);
    const withoutChecksum = [...lines.slice(0, -1), JSON.stringify({ rows: lines.length - 2 })];
    await expect(importExportedConversation(sql, each(withoutChecksum))).rejects.toThrow('SHA-256');
  });

  it('is not written while a message waits: it would be answered here and where the file is imported', async () => {
    const conversationId = await richConversation(sql);
    await send(sql, { conversationId });
    await expect(exported(sql, conversationId)).rejects.toMatchObject({
      code: 'conversation_busy',
      message: expect.stringContaining('a message waits'),
    });
  });

  it('holds every table that names a conversation or something of it, or says that the table is derived', async () => {
    const known = new Set([...TABLES_BEFORE, ...FENCED_TABLES, ...TABLES_AFTER].map(({ name }) => name));
    // By a column of that name, or by a reference to what is in the file.
    const rows = await sql<{ name: string }[]>`
      select distinct c.relname as name from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
        and a.attname in ('conversation_id', 'turn_id', 'entry_id', 'compaction_id', 'content_id')
      left join pg_constraint r on r.conrelid = c.oid and r.contype = 'f'
        and r.confrelid in (select f.oid from pg_class f where f.relname = any(${[...known]}::text[]))
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and (a.attname is not null or r.oid is not null)`;
    const others = rows.map(({ name }) => name).filter((name) => !known.has(name));
    // What was decided for an agent outlasts the conversation, and does not go with it.
    expect(others.toSorted()).toEqual([...DERIVED_TABLES, 'standing_decisions'].toSorted());
    expect(rows.map(({ name }) => name)).toContain('late_tool_results');
  });
});
