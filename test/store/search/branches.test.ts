import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import type { NewBranchSummary } from '../../../src/store/conversations/change-branch.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { insertMemory } from '../../support/insert-memory.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { end, go } from '../support/branch-builders.ts';
import { SNAPSHOT, continueConversation, send, startTurn, text, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

const OPENING = 'Let us begin.';

/** Whose conversations these are. */
const USER = 'ada';
const REMEMBERS = { snapshot: { ...SNAPSHOT, memory: { user: USER, tokens: 1_000 } } };

/** A conversation whose first branch says one thing and whose second, the active one, another. */
async function saidOnBranches(one: string, other: string): Promise<string> {
  const turn = await startTurn(sql, OPENING, REMEMBERS);
  const { conversationId } = turn;
  await end(sql, turn);
  await say(conversationId, one);
  const [first] = await listEntries(sql, { conversationId });
  await go(sql, conversationId, { entryId: first?.id ?? '', summarizes: false }, null, REMEMBERS);
  await say(conversationId, other);
  return conversationId;
}

async function say(conversationId: string, said: string): Promise<void> {
  await send(sql, { conversationId, ...text(said) });
  await end(sql, await continueConversation(sql, conversationId, REMEMBERS));
}

/** What is said of it; the opening, which stands beside every passage, is found too. */
async function find(conversationId: string, query: string) {
  const found = await searchMemory(sql, { conversationId, query });
  return found
    .filter((passage) => passage.text !== OPENING)
    .map((passage) => ({
      text: passage.text,
      branch: passage.branch,
    }));
}

const recall = (conversationId: string) =>
  recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, conversationId);

describe('a search among branches', () => {
  it('puts what stands on the active branch above what was left', async () => {
    const [one, other] = ['The port of the staging database is 5433', 'The port of the staging database is 5434'];
    const conversationId = await saidOnBranches(one, other);
    expect(await find(conversationId, 'port of the staging database')).toEqual([
      { text: other, branch: undefined },
      { text: one, branch: 0 },
    ]);
    await go(sql, conversationId, { branch: 0, summarizes: false });
    expect(await find(conversationId, 'port of the staging database')).toEqual([
      { text: one, branch: undefined },
      { text: other, branch: 1 },
    ]);
  });

  it('does so in all conversations of an agent', async () => {
    const [one, other] = ['The ferry to Amrum leaves at 7', 'The ferry to Amrum leaves at 8'];
    const conversationId = await saidOnBranches(one, other);
    await go(sql, conversationId, { branch: 0, summarizes: false });
    const query = 'When leaves the ferry to Amrum?';
    const found = await searchMemory(sql, { agent: 'reader', query });
    expect(await searchMemory(sql, { agent: 'reader', conversationId, query })).not.toEqual([]);
    expect(await searchMemory(sql, { agent: 'another', conversationId, query })).toEqual([]);
    expect(found.slice(0, 2).map(({ branch, ...passage }) => [passage.text, branch])).toEqual([
      [one, undefined],
      [other, 1],
    ]);
  });

  it('shows of what was said on both the passage of the active branch, also when it is the older one', async () => {
    const conversationId = await saidOnBranches('The heron nests in May', 'the heron  nests in May');
    await go(sql, conversationId, { branch: 0, summarizes: false });
    expect(await find(conversationId, 'heron')).toEqual([{ text: 'The heron nests in May', branch: undefined }]);
    const long = Array.from(
      { length: 90 },
      (_, index) => `step${'x'.repeat(index)}`.slice(0, 8 + (index % 9)) + index,
    ).join(' ');
    const nearly = await saidOnBranches(`quickly runs the plover ${long}`, `slowly runs the plover ${long}`);
    await go(sql, nearly, { branch: 0, summarizes: false });
    expect(await find(nearly, 'plover')).toMatchObject([
      { text: expect.stringContaining('quickly'), branch: undefined },
    ]);
  });

  it('puts no summary of a branch that was left above what the active one says', async () => {
    const [one, other] = ['The deadline of project Osprey is Monday', 'The deadline of project Osprey is Friday'];
    const conversationId = await saidOnBranches(one, other);
    const summary: NewBranchSummary = {
      ...text('The deadline of project Osprey is Friday, it was said there'),
      files: { read: [], modified: [] },
      model: null,
      promptVersion: '1',
    };
    await go(sql, conversationId, { branch: 0, summarizes: true }, summary);
    const found = await find(conversationId, 'deadline of project Osprey');
    expect(found).toHaveLength(3);
    expect(found[0]).toEqual({ text: one, branch: undefined });
  });

  it('puts no summary of a branch that was left above the original that it tells', async () => {
    const said = 'The heron of Utrecht nests at marker 4711, near the northern lock, and comes back each spring';
    const conversationId = await saidOnBranches(said, 'plums');
    await go(sql, conversationId, { branch: 0, summarizes: false });
    const summary: NewBranchSummary = {
      ...text('heron of Utrecht nests at marker 4711'),
      files: { read: [], modified: [] },
      model: null,
      promptVersion: '1',
    };
    await go(sql, conversationId, { branch: 1, summarizes: true }, summary);
    const found = await find(conversationId, 'heron of Utrecht nests at marker 4711');
    const texts = found.map((passage) => passage.text);
    expect(texts[0]).toBe(said);
    expect(texts).toContain('heron of Utrecht nests at marker 4711');
  });

  it('names the branch of what the query names by its id', async () => {
    const conversationId = await saidOnBranches('apples and pears', 'plums');
    const [, plums] = await listEntries(sql, { conversationId });
    await go(sql, conversationId, { branch: 0, summarizes: false });
    expect(await find(conversationId, `what is ${plums?.id}`)).toMatchObject([{ text: 'plums', branch: 1 }]);
  });
});

describe('recall', () => {
  it('says of an entry that it opens, and of those around it, which branch was left', async () => {
    const conversationId = await saidOnBranches('apples and pears', 'plums');
    const [shared, plums] = await listEntries(sql, { conversationId });
    await go(sql, conversationId, { branch: 0, summarizes: false });
    const [, apples] = await listEntries(sql, { conversationId });
    const memory = recall(conversationId);
    expect(await memory.open(plums?.id ?? '', 0, 100)).toMatchObject({ text: 'plums', branch: 1 });
    expect(await memory.open(apples?.id ?? '', 0, 100)).not.toHaveProperty('branch');
    const around = await memory.around(plums?.id ?? '', 1);
    expect(around).toMatchObject({ branch: 1, entries: [{ entryId: shared?.id }, { entryId: plums?.id, branch: 1 }] });
    expect(around).not.toHaveProperty('entries.0.branch');
    expect(await memory.around(apples?.id ?? '', 1)).not.toHaveProperty('branch');
  });
});

it('an entry that a memory comes from is opened with the branch that it was left on, from another conversation too', async () => {
  const conversationId = await saidOnBranches('The staging port is 6432.', 'Never mind.');
  const [found] = await searchMemory(sql, { conversationId, query: 'staging port' });
  const sourceId = found?.entryId ?? '';
  const scope = { scope: 'user', scopeName: USER } as const;
  const memory = { ...scope, kind: 'fact', text: 'The staging port is 6432.', origin: 'user' } as const;
  await insertMemory(sql, { id: newId(), ...memory, conversationId, sourceId });
  const other = await startTurn(sql);
  const dependencies = { database: sql, embedder: null, logger: pino({ level: 'silent' }) };
  const recalled = recallOf(dependencies, other.conversationId, [scope]);
  expect(await recalled.open(sourceId, 0, 100)).toMatchObject({ conversationId, branch: 0 });
  const range = await recalled.around(sourceId, 1);
  expect(range).toMatchObject({ conversationId, branch: 0 });
  if (range === null || range === 'of_another_user') throw new Error('the range is not opened');
  expect(range.entries.map(({ branch }) => branch)).toEqual([undefined, 0]);
  await go(sql, conversationId, { branch: 0, summarizes: false });
  expect((await recalled.open(sourceId, 0, 100))?.branch).toBeUndefined();
});
