import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';

const BETWEEN = [
  'We looked at the weather map again.',
  'Lunch was late because the queue was long.',
  'The printer needs paper.',
  'I read a chapter on the train.',
  'Nobody answered the phone.',
];
const DAY = 86_400_000;

export interface TwoFacts {
  readonly older: string;
  readonly newer: string;
  readonly query: string;
}

/** What a search finds of two facts, in order. */
export async function askOfTwoFacts(
  sql: Database,
  { older, newer, query }: TwoFacts,
  options: { readonly isImported?: boolean } = {},
): Promise<{ readonly isNewerFirst: boolean }> {
  const told = options.isImported === true ? [newer, ...BETWEEN, older] : [older, ...BETWEEN, newer];
  const times = told.map((_, index) => new Date(Date.UTC(2023, 0, 1, 12) + index * DAY));
  const { conversationId } = await loadEntries(sql, told.length, (index) => told[index] ?? '', times);
  const found = await searchMemory(sql, { conversationId, query });
  const first = found.findIndex(({ text }) => text === newer);
  const second = found.findIndex(({ text }) => text === older);
  return {
    isNewerFirst: first >= 0 && (second < 0 || first < second),
  };
}
