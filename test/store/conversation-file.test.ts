import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { FILE_TABLES } from '../../src/store/transfer/format.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { newId } from '../../src/store/database/ids.ts';
import { renewMemory } from '../../src/store/memory/memories.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { listMemories } from '../support/list-memories.ts';
import { readSaidWords } from '../../src/store/memory/said-words.ts';
import { verify } from '../../src/verify/verify.ts';
import { end } from './support/branch-builders.ts';
import {
  exported,
  fileOf,
  importLines,
  ODD,
  RAW,
  richConversation,
  rowsOf,
  sealed,
} from './support/conversation-files.ts';
import { answer, continueConversation, useTestStore, said, send, step, text } from './support/store-builders.ts';

const { sql } = useTestStore();

const INVALID = { code: 'conversation_file_invalid', message: expect.stringMatching(/^line \d+ of the file: /u) };

describe('a conversation file', () => {
  it('comes back equal: originals byte for byte, NUL, lone surrogates, summaries, memories', async () => {
    const conversationId = await richConversation(sql);
    const before = await said(sql, conversationId);
    const lines = await fileOf(sql, conversationId);
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
    expect(before.join()).toContain(ODD);
    const imported = await importLines(sql, lines);
    const memories = [{ scope: 'user', scopeName: 'ada', count: 1 }];
    expect(imported).toEqual({ conversationId, turns: 2, entries: before.length, pins: 0, memories });
    expect(await exported(sql, conversationId)).toEqual(lines);
    expect(await said(sql, conversationId)).toEqual(before);
    const [raw] = await sql<{ bytes: Uint8Array }[]>`
      select string_agg(p.data, '' order by p.number) as bytes from content_pieces p join contents o on o.id = p.content_id
      join entries e on e.original_id = o.id where o.conversation_id = ${conversationId}`;
    expect(Buffer.compare(Buffer.from(raw?.bytes ?? []), RAW)).toBe(0);
    const [memory] = await listMemories(sql, { scopes: [{ scope: 'user', scopeName: 'ada' }] });
    expect(memory?.text).toBe(ODD);
    const { invariants } = await verify(sql, { conversationId });
    expect(invariants.filter(({ breaches }) => breaches.length > 0)).toEqual([]);
    // It goes on as any other: the fences know where it stands.
    await send(sql, { conversationId });
    await step(sql, await continueConversation(sql, conversationId), 1);
  });

  it('of passes that last for a turn says that they are over, whatever the agent here makes of them', async () => {
    const conversationId = await richConversation(sql);
    await send(sql, { conversationId });
    const policy = { ...DEFAULT_POLICY, lasts: 'turn' as const };
    const turn = await continueConversation(sql, conversationId, { snapshot: { policy } });
    // As after a pass of this turn.
    await sql`update conversations set compactions_over = 0 where id = ${conversationId}`;
    await answer(sql, turn, 1);
    await end(sql, turn);
    await importLines(sql, await fileOf(sql, conversationId));
    const [row] =
      await sql`select compactions, compactions_over, compaction_id from conversations where id = ${conversationId}`;
    expect(row).toEqual({ compactions: 1, compactionsOver: 1, compactionId: null });
  });

  it('brings words that nobody said here: only what is said afterwards counts as the words of the user', async () => {
    const conversationId = await richConversation(sql);
    const userWords = async (): Promise<readonly string[]> => {
      const words: string[] = [];
      for await (const page of readSaidWords(sql, conversationId)) words.push(...page.map((one) => one.text));
      return words;
    };
    const before = await userWords();
    await importLines(sql, await fileOf(sql, conversationId));
    await send(sql, { conversationId, ...text('said here') });
    await continueConversation(sql, conversationId);
    expect(await userWords()).toEqual(['said here']);
    expect(before.length).toBeGreaterThan(0);
  });

  it('leaves out memories whose place one of another conversation took, by whatever chain, and comes back equal', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    const workspace = { scope: 'workspace', scopeName: '/memories' } as const;
    const remember = async (of: string, supersedes: readonly string[] = []): Promise<string> => {
      const what = { id: newId(), kind: 'fact', text: 'a fact', origin: 'model', conversationId: of } as const;
      await insertMemory(sql, { ...workspace, ...what, supersedes });
      return what.id;
    };
    const first = await remember(conversationId);
    const second = await remember(conversationId, [first]);
    const newer = await remember(other, [second]);
    const older = await remember(conversationId);
    const inForce = await remember(conversationId, [older]);
    const lines = await fileOf(sql, conversationId);
    await importLines(sql, lines, { memoryScopes: { agent: 'reader', workspace: '/memories', user: 'ada' } });
    expect(await exported(sql, conversationId)).toEqual(lines);
    const all = await listMemories(sql, { scopes: [workspace], all: true });
    expect(all.map(({ id }) => id).toSorted()).toEqual([newer, older, inForce].toSorted());
    const standing = await listMemories(sql, { scopes: [workspace] });
    expect(standing.map(({ id }) => id).toSorted()).toEqual([newer, inForce].toSorted());
  });

  it('leaves a memory as it is that another conversation has taken over since', async () => {
    const conversationId = await richConversation(sql);
    const other = await richConversation(sql);
    const scope = { scope: 'workspace', scopeName: '/taken' } as const;
    const memory = { ...scope, id: newId(), kind: 'fact', text: 'a fact', origin: 'model', conversationId } as const;
    await insertMemory(sql, memory);
    const lines = await exported(sql, conversationId);
    await sql.begin((open) => renewMemory(open, { ...memory, origin: 'user', conversationId: other }));
    await deleteConversation(sql, conversationId);
    await importLines(sql, lines);
    expect(await listMemories(sql, { scopes: [scope] })).toMatchObject([
      { id: memory.id, origin: 'user', conversationId: other },
    ]);
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
      await expect(importLines(sql, given), how).rejects.toMatchObject({ code: 'conversation_file_invalid' });
    }
    const whole = importLines(sql, lines);
    await expect(whole).rejects.toMatchObject({ code: 'conversation_exists' });
    await expect(whole).rejects.not.toThrow('delete');
  });

  it('is not written while a message waits: it would be answered here and be missing in the file', async () => {
    const conversationId = await richConversation(sql);
    await send(sql, { conversationId });
    await expect(exported(sql, conversationId)).rejects.toMatchObject({
      code: 'conversation_busy',
      message: expect.stringContaining('a message waits'),
    });
  });

  it('holds every table that names a conversation or something of it, or is known to leave it out', async () => {
    const known = new Set<string>(Object.keys(FILE_TABLES));
    const derived = ['search_progress', 'passages', 'packed_outlines'];
    const madeByWhoImports = ['messages', 'turns', 'model_attempts', 'tool_calls', 'events'];
    const ofWhoRunsTheTurns = ['decisions', 'standing_decisions', 'provider_calls', 'webhook_deliveries'];
    // By a column of that name, or by a reference to what is in the file.
    const rows = await sql<{ name: string }[]>`
      select distinct c.relname as name from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
        and a.attname in ('conversation_id', 'turn_id', 'entry_id', 'compaction_id', 'content_id')
      left join pg_constraint r on r.conrelid = c.oid and r.contype = 'f'
        and r.confrelid in (select f.oid from pg_class f where f.relname = any(${[...known]}::text[]))
      where c.relkind = 'r' and c.relnamespace = 'holdfast'::regnamespace and (a.attname is not null or r.oid is not null)`;
    const others = rows.map(({ name }) => name).filter((name) => !known.has(name));
    expect(others.toSorted()).toEqual([...derived, ...madeByWhoImports, ...ofWhoRunsTheTurns].toSorted());
  });
});

describe('a damaged file is refused with its line, and leaves nothing behind', () => {
  let conversationId = '';
  let lines: readonly string[] = [];
  beforeAll(async () => {
    conversationId = await richConversation(sql);
    lines = await fileOf(sql, conversationId);
  });

  const isEntry = (line: string, sequence: number): boolean =>
    line.startsWith('{"table" : "entries"') && line.includes(`"sequence":${sequence},`);

  it.each<[string, (line: string) => string[], string]>([
    ['a missing entry', (line) => (isEntry(line, 4) ? [] : [line]), 'entry 4 comes next, and not 5'],
    ['a doubled entry', (line) => (isEntry(line, 4) ? [line, line] : [line]), 'entry 5 comes next, and not 4'],
    ['a missing result', (line) => (isEntry(line, 9) ? [] : [line]), 'entry 9 comes next'],
    [
      'a missing original',
      (line) => (line.startsWith('{"table" : "contents"') ? [] : [line]),
      'does not stand before it',
    ],
    [
      'a missing conversation',
      (line) => (line.startsWith('{"table" : "conversations"') ? [] : [line]),
      'itself is missing',
    ],
    [
      'a missing part of a compaction',
      (line) => (line.startsWith('{"table" : "compaction_parts"') ? [] : [line]),
      'a part of a compaction is missing',
    ],
    ['a missing compaction', (line) => (line.startsWith('{"table" : "compactions"') ? [] : [line]), 'Postgres refuses'],
    [
      'a doubled compaction',
      (line) => (line.startsWith('{"table" : "compactions"') ? [line, line] : [line]),
      'Postgres refuses a value of compactions',
    ],
    [
      'a huge number',
      (line) => [line.replace('"formNumber":1', '"formNumber":1e400')],
      '"formNumber" of compactions is not',
    ],
    [
      'a huge measurement',
      (line) => [line.replace(/"viewAfter":"\(\d+/u, '"viewAfter":"(9000000000000000000')],
      '"viewAfter" of compactions is not',
    ],
    ['a time that is none', (line) => [line.replace(/"createdAt":"[^"]*"/u, '"createdAt":"secret"')], '22007'],
    [
      'deep nesting',
      (line) => [
        line.replace('"droppedMessages":0', `"droppedMessages":0,"x":${'['.repeat(50_000)}${']'.repeat(50_000)}`),
      ],
      'nested too deeply',
    ],
    [
      'a list in place of a row',
      (line) => [line.replace('"row" : {', '"row" : [{').replace(/\}\}$/u, '}]}')],
      'it is no row of a table',
    ],
  ])('%s', async (_, change, refusal) => {
    const rows = lines.slice(1, -1);
    const made = rows.flatMap(change);
    expect(made).not.toEqual(rows);
    const error = await importLines(sql, sealed(lines[0] ?? '', made)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(INVALID);
    expect(String(error)).toMatch(new RegExp(refusal, 'u'));
    expect(String(error)).not.toContain('secret');
    expect(await rowsOf(sql, conversationId)).toEqual({});
  });

  it('an answer whose calls have no results', async () => {
    const rows = lines.slice(1, -1);
    const answered = rows.findIndex((line) => isEntry(line, 7));
    const head = /"id":"([^"]+)"/u.exec(rows[answered] ?? '')?.[1] ?? '';
    const last = (rows.at(-1) ?? '').replace(/"headEntryId":"[^"]+"/u, `"headEntryId":"${head}"`);
    const made = sealed(lines[0] ?? '', [...rows.slice(0, answered + 1), last]);
    await expect(importLines(sql, made)).rejects.toMatchObject({
      code: 'conversation_file_invalid',
      message: expect.stringContaining('a tool call has no result'),
    });
  });

  it('whatever is damaged: it is refused, or nothing that is checked is amiss', async () => {
    const [header = '', ...rest] = lines;
    const rows = rest.slice(0, -1);
    const damages: Readonly<
      Record<string, (all: readonly string[], at: number, share: number, byte: number) => string[]>
    > = {
      cut: (all, at, share) =>
        all.map((line, index) => (index === at ? line.slice(0, Math.floor(share * line.length)) : line)),
      flipped: (all, at, share, byte) =>
        all.map((line, index) => {
          if (index !== at) return line;
          const where = Math.floor(share * line.length);
          return `${line.slice(0, where)}${String.fromCharCode(byte)}${line.slice(where + 1)}`;
        }),
      lost: (all, at) => all.toSpliced(at, 1),
      doubled: (all, at) => all.toSpliced(at, 0, all[at] ?? ''),
      moved: (all, at, share) => all.toSpliced(at, 1).toSpliced(Math.floor(share * all.length), 0, all[at] ?? ''),
      'a number changed': (all, at, _, byte) =>
        all.map((line, index) => (index === at ? line.replace(/:\d+(?=[,}])/u, `:${byte - 100}`) : line)),
    };
    const how = fc.constantFrom(...Object.keys(damages));
    const share = fc.double({ min: 0, max: 0.999, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        how,
        fc.nat(rows.length - 1),
        share,
        fc.integer({ min: 1, max: 255 }),
        async (name, at, where, byte) => {
          const damaged = sealed(header, damages[name]?.(rows, at, where, byte) ?? rows);
          const result = await importLines(sql, damaged).catch((error: unknown) => error);
          if (result instanceof Error) {
            expect(result).toMatchObject(INVALID);
            expect(await sql`select from conversations where id = ${conversationId}`).toHaveLength(0);
            return;
          }
          const { invariants } = await verify(sql, { conversationId });
          const breached = invariants.filter(({ breaches }) => breaches.length > 0).map((invariant) => invariant.name);
          await deleteConversation(sql, conversationId);
          expect(breached).toEqual([]);
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
