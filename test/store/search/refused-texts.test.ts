import { beforeAll, describe, expect, it } from 'vitest';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { wordsOf } from '../../../src/store/search/words.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';
import { indexOnce } from '../../support/index-once.ts';

const { sql, owner } = useTestStore();

/** One character that stands for eighteen. */
const LIGATURES = '\uFDFA'.repeat(64);

/** Fails for passages with a word. */
beforeAll(async () => {
  await owner.unsafe(`
    create function refuse_passage() returns trigger language plpgsql as $$
    begin
      if new.text like '%locked%' then raise exception 'refused' using errcode = 'XX000'; end if;
      return new;
    end $$;
    create trigger refuse_passage before insert on passages for each row execute function refuse_passage();`);
});

async function texts(where: { conversationId: string } | { agent: string }, query: string): Promise<string[]> {
  return (await searchMemory(sql, { ...where, query })).map((passage) => passage.text);
}

async function upkeep(): Promise<string[]> {
  const warnings: string[] = [];
  await indexOnce(sql, null, (line) => warnings.push((JSON.parse(line) as { msg: string }).msg));
  return warnings;
}

describe('a text whose characters stand for many', () => {
  it('is indexed, found by itself, and cut between characters', async () => {
    const { conversationId } = await conversationOf(sql, `greeting ${LIGATURES}`, 'the numbat digs');
    expect(await texts({ conversationId }, 'numbat')).toEqual(['the numbat digs']);
    expect(await texts({ conversationId }, LIGATURES)).toEqual([`greeting ${LIGATURES}`]);
    const [word] = wordsOf(LIGATURES);
    expect(Buffer.byteLength(word?.text ?? '')).toBeLessThanOrEqual(256);
    expect(wordsOf(`a${'𝒳'.repeat(90)}`)[0]?.text).toBe(`a${'x'.repeat(31)}`);
  });
});

describe('a conversation that cannot be indexed', () => {
  it('keeps no other one from being indexed, by upkeep or by a search of the agent', async () => {
    const broken = await conversationOf(sql, 'locked');
    const { conversationId } = await conversationOf(sql, 'the bilby digs');
    const [row] = await sql<{ agent: string }[]>`select agent from conversations where id = ${conversationId}`;
    expect(await texts({ agent: row?.agent ?? '' }, 'bilby')).toEqual(['the bilby digs']);
    const later = await conversationOf(sql, 'the dunnart digs');
    const warnings = await upkeep();
    expect(warnings).toEqual(['a conversation could not be indexed; upkeep tries again']);
    const [progress] = await sql<{ through: number }[]>`
      select through_sequence as through from search_progress where conversation_id = ${later.conversationId}`;
    expect(progress?.through).toBe(1);
    await expect(indexConversation(sql, broken.conversationId)).rejects.toMatchObject({ code: 'XX000' });
  });
});

describe('a search', () => {
  it('without a scope, or asked at no time, is refused', async () => {
    await expect(searchMemory(sql, { query: 'numbat' })).rejects.toMatchObject({ code: 'invalid_search' });
    const { conversationId } = await conversationOf(sql, 'the numbat digs');
    const asked = searchMemory(sql, { conversationId, query: 'numbat', askedAt: 'nope' });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_search', message: expect.stringContaining('"nope"') });
  });
});
