import { expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { LoadedKind } from '../../../dev/bench/memory/load-entries.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { useTestStore } from '../support/store-builders.ts';

const { sql, owner } = useTestStore();

interface Told {
  /** Default: none. */
  readonly user?: string;
  /** Default: the user. */
  readonly kind?: LoadedKind;
  readonly text: string;
}

/** Conversations of one agent, a day apart, each with one thing that is told; what a search of the agent finds of them, by their place. */
async function found(query: string, ...told: readonly Told[]) {
  const agent = `agent-${newId()}`;
  const places = new Map<string, number>();
  for (const [place, { user, kind = 'user', text }] of told.entries()) {
    const at = new Date(Date.UTC(2026, 4, place + 1));
    const { conversationId, entryIds } = await loadEntries(
      sql,
      1,
      () => text,
      [at],
      () => kind,
    );
    await sql`update conversations set agent = ${agent}, user_name = ${user ?? null} where id = ${conversationId}`;
    // A search stops indexing after half a second.
    await indexConversation(sql, conversationId);
    for (const id of [conversationId, ...entryIds]) places.set(id, place);
  }
  const placeOf = (id: string): number | undefined => places.get(id);
  return (await searchMemory(sql, { agent, query })).map(({ entryId, alsoIn }) => ({
    place: placeOf(entryId),
    alsoIn: (alsoIn ?? []).map(placeOf),
  }));
}

const byPlace = <T extends { readonly place: number | undefined }>(passages: readonly T[]): T[] =>
  passages.toSorted((one, other) => (one.place ?? 0) - (other.place ?? 0));
const alone = { alsoIn: [] };

it.each([
  ['of two users', 'ada', 'bob'],
  ['of a user and of nobody who is named', undefined, 'bob'],
  ['of nobody who is named and of a user', 'ada', undefined],
])('what is said in conversations %s is listed for both', async (_, first, second) => {
  const of = (user: string | undefined, text: string): Told => ({ ...(user !== undefined && { user }), text });
  const keys = [of(first, 'My deploy key is RX-17.'), of(second, 'My deploy key is now RX-99.')];
  const expected = [
    { place: 0, ...alone },
    { place: 1, ...alone },
  ];
  expect(byPlace(await found('What is my deploy key?', ...keys))).toEqual(expected);
  const ports = [
    of(first, 'The staging database listens on port 5433.'),
    of(second, 'We changed the staging database port to 6000.'),
  ];
  expect(byPlace(await found('Which port does the staging database use?', ...ports))).toEqual(expected);
});

it('what one user says in two conversations goes above what he said before, and so it is where no user is named', async () => {
  for (const user of [{ user: 'ada' }, {}]) {
    const passages = await found(
      'Where do I live?',
      { ...user, text: 'I live in Utrecht.' },
      { ...user, text: 'I no longer live in Utrecht, I moved to Delft.' },
    );
    expect(passages.map(({ place }) => place)).toEqual([1, 0]);
  }
});

it('the same text of two users is listed for each, and that of one user once, with his other conversations', async () => {
  const text = 'The gate code is 4417.';
  const passages = await found(
    'What is the gate code?',
    { user: 'ada', text },
    { user: 'bob', text },
    { user: 'ada', text },
    { user: 'ada', text },
  );
  expect(byPlace(passages)).toEqual([
    { place: 1, ...alone },
    { place: 3, alsoIn: [2, 0] },
  ]);
});

it('what tools returned alike is listed once, whoever had them called', async () => {
  const text = 'The gate code is 4417.';
  const passages = await found(
    'What is the gate code?',
    { user: 'ada', kind: 'tool_result', text },
    { user: 'bob', kind: 'tool_result', text },
  );
  expect(passages).toEqual([{ place: 1, alsoIn: [0] }]);
});

it.each([
  ['the model repeats', 'assistant'],
  ['a tool returns', 'tool_result'],
] as const)('what the user says is listed beside what %s in the same words later', async (_, kind) => {
  const text = 'I love hiking in the rain.';
  const passages = await found('Who loves hiking in the rain?', { text }, { kind, text }, { kind, text });
  expect(byPlace(passages)).toEqual([
    { place: 0, ...alone },
    { place: 2, alsoIn: [1] },
  ]);
});

it('a search of an agent finds the conversations of one tenant and no others', async () => {
  const agent = `agent-${newId()}`;
  const at = new Date(Date.UTC(2026, 4, 1));
  for (const tenant of ['default', 'other']) {
    const { conversationId } = await loadEntries(
      sql,
      1,
      () => `The numbat of ${tenant} sleeps.`,
      [at],
      () => 'user',
    );
    await owner`update conversations set agent = ${agent}, tenant = ${tenant} where id = ${conversationId}`;
  }
  const texts = async (tenant?: string): Promise<string[]> =>
    (await searchMemory(sql, { agent, query: 'numbat', ...(tenant !== undefined && { tenant }) })).map(
      ({ text }) => text,
    );
  expect(await texts()).toEqual(['The numbat of default sleeps.']);
  expect(await texts('other')).toEqual(['The numbat of other sleeps.']);
  expect(await texts('third')).toEqual([]);
});
