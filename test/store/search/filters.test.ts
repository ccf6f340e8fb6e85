import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { MemoryQuery } from '../../../src/store/memory/recall-search.ts';
import { useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

/** Old: what the user said, then results; new: more results. Each has the word, more than one search reads postings. */
const [SAID, OLD, NEW] = [100, 7_000, 700];
const TURN_OF_THE_YEAR = '2026-01-01T00:00:00Z';

describe('a word that is nearly everywhere', () => {
  let conversationId: string;
  const find = async (query: string, filter: Partial<MemoryQuery>) =>
    (await searchMemory(sql, { conversationId, query, ...filter })).map((passage) =>
      passage.text.split(' ', 2).join(' '),
    );

  async function load(): Promise<void> {
    const textOf = (index: number): string =>
      index < SAID
        ? `please deploy site ${index}`
        : index < SAID + OLD
          ? `deploy finished without trouble ${index}`
          : `deploy failed ${index}`;
    const times = Array.from(
      { length: SAID + OLD + NEW },
      (_, index) => new Date(Date.UTC(index < SAID + OLD ? 2025 : 2026, 1, 1)),
    );
    ({ conversationId } = await loadEntries(sql, SAID + OLD + NEW, textOf, times));
    await sql.begin(async (open) => {
      await open`set local role none`;
      await open`set local session_replication_role = replica`;
      await open`
        update entries set kind = 'tool_result', tool_name = 'grep', call_number = 1, call_index = sequence, is_error = false
        where conversation_id = ${conversationId} and sequence > ${SAID}`;
    });
    await indexConversation(sql, conversationId);
  }

  it('is found in the kinds and the times that are asked for', async () => {
    await load();
    expect(new Set(await find('deploy', { kinds: ['user'] }))).toEqual(new Set(['please deploy']));
    expect(new Set(await find('deploy', { kinds: ['user', 'note'] }))).toEqual(new Set(['please deploy']));
    for (const query of ['deploy', 'deploy trouble', 'deploy failed']) {
      const before = await find(query, { before: TURN_OF_THE_YEAR });
      expect(before).toHaveLength(10);
      expect(before).not.toContain('deploy failed');
      expect(new Set(await find(query, { after: TURN_OF_THE_YEAR }))).toEqual(new Set(['deploy failed']));
    }
  });
});
