import { describe, expect, it } from 'vitest';
import { chooseMemories } from '../../src/store/memory/choose-memories.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { termsOf } from '../../src/store/memory/memory-terms.ts';
import { useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

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
