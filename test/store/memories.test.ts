import { describe, expect, it } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { forgetMemory } from '../../src/store/memory/memories.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { listMemories } from '../support/list-memories.ts';
import type { MemoryScope, MemoryToInsert } from '../../src/store/memory/memories.ts';
import { headOf, startTurn, useTestStore } from './support/store-builders.ts';

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
