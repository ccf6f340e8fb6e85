import { describe, expect, it } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { forgetMemory } from '../../src/store/memory/memories.ts';
import type { MemoryScope, MemoryToInsert } from '../../src/store/memory/memories.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { listMemories } from '../support/list-memories.ts';
import { headOf, startTurn, useTestStore } from './support/store-builders.ts';
import { chooseMemories } from '../../src/store/memory/choose-memories.ts';
import { termsOf } from '../../src/store/memory/memory-terms.ts';

const { sql } = useTestStore();
const scopeOf = (): MemoryScope => ({ scope: 'workspace', scopeName: `/work/${newId()}` });

function memory(scope: MemoryScope, text: string, rest: Partial<MemoryToInsert> = {}): MemoryToInsert {
  return { ...scope, id: newId(), kind: 'fact', text, origin: 'user', ...rest };
}

async function texts(...scopes: MemoryScope[]): Promise<string[]> {
  return (await listMemories(sql, { scopes })).map(({ text }) => text);
}

describe('memories', () => {
  it('come back as written, newest first, with where they come from', async () => {
    const scope = scopeOf();
    const { conversationId } = await startTurn(sql, 'hello');
    const sourceId = await headOf(sql, conversationId);
    await insertMemory(sql, memory(scope, 'older'));
    const odd = memory(scope, 'NUL \0 and \uD800', {
      kind: 'summary',
      origin: 'model',
      conversationId,
      sourceId,
      confidence: 0.5,
    });
    await insertMemory(sql, odd);
    const [newest, oldest] = await listMemories(sql, { scopes: [scope] });
    expect(newest).toMatchObject({ ...odd, supersededBy: null, expiresAt: null });
    expect(oldest).toMatchObject({ text: 'older', conversationId: null, sourceId: null, confidence: 1 });
    expect(await listMemories(sql, { scopes: [scope], kinds: ['summary'] })).toHaveLength(1);
    expect(await listMemories(sql, { scopes: [scope], limit: 1 })).toHaveLength(1);
  });

  it('are inserted once, however often the same id is written', async () => {
    const scope = scopeOf();
    const once = memory(scope, 'first');
    const written = await Promise.all(Array.from({ length: 5 }, () => insertMemory(sql, once)));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await insertMemory(sql, { ...once, text: 'second' })).toBe(false);
    expect(await texts(scope)).toEqual(['first']);
  });

  it('of two tenants that chose the same id are two, and each supersedes its own', async () => {
    const scope = scopeOf();
    const other = { ...scope, tenant: 'other' };
    const first = memory(scope, 'first');
    await insertMemory(sql, first);
    expect(await insertMemory(sql, { ...first, ...other, text: 'theirs' })).toBe(true);
    await insertMemory(sql, memory(scope, 'second', { supersedes: [first.id] }));
    expect([await texts(scope), await texts(other)]).toEqual([['second'], ['theirs']]);
  });

  it('are seen by their own scope only', async () => {
    const [one, other] = [scopeOf(), scopeOf()];
    await insertMemory(sql, memory(one, 'mine'));
    expect(await texts(other)).toEqual([]);
    expect(await texts({ scope: 'user', scopeName: one.scopeName })).toEqual([]);
    expect(await texts({ ...one, tenant: 'other' })).toEqual([]);
    expect(await texts(other, one)).toEqual(['mine']);
    expect(await texts()).toEqual([]);
  });

  it('give way to what supersedes them, and stay readable', async () => {
    const scope = scopeOf();
    const old = memory(scope, 'port 5432');
    const newer = memory(scope, 'port 5433', { supersedes: [old.id] });
    await insertMemory(sql, old);
    await insertMemory(sql, newer);
    expect(await texts(scope)).toEqual(['port 5433']);
    const all = await listMemories(sql, { scopes: [scope], all: true });
    expect(all.find(({ id }) => id === old.id)?.supersededBy).toBe(newer.id);
  });

  it('supersede what stands in the place of one that is over: none of its successors but one is in force', async () => {
    const scope = scopeOf();
    const old = memory(scope, 'port 1');
    await insertMemory(sql, old);
    await insertMemory(sql, memory(scope, 'port 2', { supersedes: [old.id] }));
    await insertMemory(sql, memory(scope, 'port 3', { supersedes: [old.id] }));
    expect(await texts(scope)).toEqual(['port 3']);
    const atOnce = ['port 4', 'port 5', 'port 6', 'port 7'].map((text) =>
      memory(scope, text, { supersedes: [old.id] }),
    );
    await Promise.all(atOnce.map((each) => insertMemory(sql, each)));
    expect(await texts(scope)).toHaveLength(1);
    expect(await listMemories(sql, { scopes: [scope], all: true })).toHaveLength(7);
  });

  it('cannot supersede what their scope does not have; then nothing is stored', async () => {
    const [scope, other] = [scopeOf(), scopeOf()];
    const foreign = memory(other, 'foreign');
    await insertMemory(sql, foreign);
    const attempt = insertMemory(sql, memory(scope, 'x', { supersedes: [foreign.id] }));
    await expect(attempt).rejects.toMatchObject({ code: 'memory_not_found' });
    expect(await texts(scope)).toEqual([]);
    expect(await texts(other)).toEqual(['foreign']);
  });

  it('cease when they expire', async () => {
    const scope = scopeOf();
    await insertMemory(sql, memory(scope, 'past', { expiresAt: new Date(Date.now() - 1_000).toISOString() }));
    await insertMemory(sql, memory(scope, 'coming', { expiresAt: new Date(Date.now() + 60_000).toISOString() }));
    expect(await texts(scope)).toEqual(['coming']);
    expect(await listMemories(sql, { scopes: [scope], all: true })).toHaveLength(2);
  });

  it('are forgotten together with those they superseded, and only by their scope', async () => {
    const scope = scopeOf();
    const old = memory(scope, 'old');
    const newer = memory(scope, 'new', { supersedes: [old.id] });
    await insertMemory(sql, old);
    await insertMemory(sql, newer);
    expect(await forgetMemory(sql, [scopeOf()], newer.id)).toBe(false);
    expect(await forgetMemory(sql, [scope], newer.id)).toBe(true);
    expect(await listMemories(sql, { scopes: [scope], all: true })).toEqual([]);
    expect(await forgetMemory(sql, [scope], newer.id)).toBe(false);
  });

  it('never hold nothing', async () => {
    await expect(insertMemory(sql, memory(scopeOf(), '  '))).rejects.toThrow('memories_text_check');
  });
});

describe('the one memory that has several words of a long message, of which hundreds have one each', () => {
  const WANTED = 'A backup of staging waits for the rotation of its keys.';
  const SHORT = 'Make a backup on staging, mind the rotation';
  const ITEMS = Array.from({ length: 60 }, (_, index) => `i${index}x`).join(' ');
  const LONG = `${SHORT}: ${ITEMS}`;

  /** Of a user of its own, all in force and taken apart, a minute apart. */
  async function storeMemories(texts: readonly string[]): Promise<string> {
    const user = `user-${newId()}`;
    const terms = texts.map((text) => termsOf({ scope: 'user', scopeName: user, kind: 'fact', text }).join(' '));
    await sql`
      insert into memories (id, tenant, scope, scope_name, kind, text, terms, origin, created_at)
      select gen_random_uuid(), 'default', 'user', ${user}, 'fact', to_json(t.text), string_to_array(t.terms, ' '), 'user',
        now() - interval '30 days' + t.number * interval '1 minute'
      from unnest(${[...texts]}::text[], ${terms}::text[]) with ordinality as t (text, terms, number)`;
    return user;
  }

  const repeated = (count: number, textOf: (index: number) => string): string[] =>
    Array.from({ length: count }, (_, index) => textOf(index));

  const HUNDREDS = ['staging', 'backup', 'rotation'].flatMap((word) =>
    repeated(400, (index) => `The ${word} number ${index}k.`),
  );

  async function candidatesOf(user: string, goal: string): Promise<readonly string[]> {
    const scopes = [{ scope: 'user' as const, scopeName: user }];
    const choice = { scopes, isSummary: false, matching: 300, newest: 200, preferences: 100 };
    return (await chooseMemories(sql, { ...choice, goal })).map(({ text: stated }) => stated);
  }

  it('is shown in a scope of a thousand and more, whatever else the message says', async () => {
    const user = await storeMemories([...HUNDREDS, WANTED, ...repeated(600, (index) => `Green wall ${index}k.`)]);
    for (const goal of [SHORT, LONG]) expect(await candidatesOf(user, goal)).toContain(WANTED);
  });

  it('is shown when it is older than thousands, by the word of it that fewest have', async () => {
    const rare = `${WANTED} Ask Quenby.`;
    const user = await storeMemories([
      ...HUNDREDS,
      ...repeated(130, (index) => `Quenby ${index}k.`),
      ...repeated(200, (index) => `The items ${ITEMS}, ${index}k.`),
      rare,
      ...repeated(3_100, (index) => `Green wall ${index}k.`),
    ]);
    for (const goal of [SHORT, LONG]) expect(await candidatesOf(user, `${goal}, says Quenby`)).toContain(rare);
  });
});

it('of memories that share the same words with the goal the surest are chosen, also before newer ones', async () => {
  const scope = { scope: 'user' as const, scopeName: `user-${newId()}` };
  for (const confidence of [0.9, 0.2, 0.4]) {
    const text = `The heron table lives in the house of ${confidence}.`;
    await insertMemory(sql, { ...scope, id: newId(), kind: 'fact', text, origin: 'user', confidence });
  }
  const choice = { scopes: [scope], isSummary: false, newest: 0, preferences: 0, goal: 'Where is the heron table?' };
  const chosen = async (matching: number) =>
    (await chooseMemories(sql, { ...choice, matching })).map(({ confidence }) => confidence);
  expect(await chosen(2)).toEqual([0.4, 0.9]);
});
