import { describe, expect, it } from 'vitest';
import { openAround } from '../../../src/store/log/open-entry.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { MemoryQuery } from '../../../src/store/memory/recall-search.ts';
import { reindexConversation } from '../../../src/store/search/index-conversation.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import { indexOnce } from '../../support/index-once.ts';
import {
  answerWith,
  conversationOf,
  finishToolCall,
  useTestStore,
  register,
  startTurn,
  text,
  toolCall,
} from '../support/store-builders.ts';

const { sql } = useTestStore();

async function texts(turn: TurnReference, query: string, rest: Partial<MemoryQuery> = {}): Promise<string[]> {
  const found = await searchMemory(sql, { conversationId: turn.conversationId, query, ...rest });
  return found.map((passage) => passage.text);
}

describe('searchMemory', () => {
  it('finds other forms of a word, in the language of the text', async () => {
    const turn = await conversationOf(
      sql,
      'She adopted two puppies from the shelter',
      'Wir haben die Häuser der Nachbarn gestern nicht mit dem Auto gesehen',
      'Nothing else happened',
    );
    expect((await texts(turn, 'adopting a puppy'))[0]).toBe('She adopted two puppies from the shelter');
    expect((await texts(turn, 'Haus'))[0]).toContain('Häuser');
  });

  it('says which words of a passage were found, inflected, similar and in identifiers', async () => {
    const turn = await conversationOf(sql, 'The puppies were adopted where readFitCheck runs, the Häuser too');
    const forms = async (query: string) => {
      const [passage] = await searchMemory(sql, { conversationId: turn.conversationId, query });
      return passage?.forms.toSorted();
    };
    expect(await forms('adopting the puppy')).toEqual(['adopted', 'puppies']);
    expect(await forms('a fit')).toEqual(['fit']);
    expect(await forms('readFitChek')).toContain('readfitcheck');
  });

  it('finds the answer that has no word of the question, behind the turn that asks it', async () => {
    const turn = await conversationOf(
      sql,
      'Ben: The weather was dull again',
      'Ana: Which instrument did you pick up during the summer holidays?',
      'Ben: The cello, and I love it',
      'Ana: I cooked a stew',
      'Ben: Buses were late',
      'Ana: My sister moved',
    );
    const found = await texts(turn, 'Which instrument did Ben pick up in the summer holidays?');
    expect(found.slice(0, 2)).toContain('Ben: The cello, and I love it');
  });

  it('puts the newer of two facts first when it changes the answer, and only then', async () => {
    const turn = await conversationOf(
      sql,
      'Jasen Rodriquez was born in New York City.',
      'Jasen Rodriquez likes to sail near the city on Sundays.',
      'Maria Lopez was born in Lisbon.',
      'Jasen Rodriquez was born in Los Angeles.',
    );
    const found = await texts(turn, 'In which city was Jasen Rodriquez born?');
    expect(found[0]).toBe('Jasen Rodriquez was born in Los Angeles.');
    expect(found[1]).toBe('Jasen Rodriquez was born in New York City.');
    expect((await texts(turn, 'Where was Maria Lopez born?'))[0]).toBe('Maria Lopez was born in Lisbon.');
  });

  it('knows irregular forms, and takes one of the names that a question offers for choice', async () => {
    const turn = await conversationOf(
      sql,
      'Ana Bell, Ben Cole and Eve Dorn are members of a book club',
      'Ben Cole writes novels about ships',
      'Ana Bell and Eve Dorn met at a fair in Berlin',
      'Ana Bell and Eve Dorn will first open a shop, according to plan',
    );
    expect((await texts(turn, 'Where did Ana Bell and Eve Dorn meet?'))[0]).toContain('met at a fair');
    expect((await texts(turn, 'Who writes novels among Ana Bell, Ben Cole, and Eve Dorn?'))[0]).toContain('ships');
  });

  it('takes relative dates from the time at the head of a text, where it has one', async () => {
    const turn = await conversationOf(
      sql,
      '[10:00 am on 9 March, 2021] Ana: The choir of Brill sang yesterday',
      '[10:00 am on 9 May, 2021] Ana: The choir of Brill sang yesterday, louder',
    );
    expect((await texts(turn, 'Which choir of Brill sang on 8 March 2021?'))[0]).toContain('9 March');
    expect((await texts(turn, 'Which choir of Brill sang on 8 May 2021?'))[0]).toContain('louder');
  });

  it('puts the newer statement first although it stands in a long passage', async () => {
    const other = (word: string): string => Array.from({ length: 60 }, (_, at) => `${word}${at} goes on.`).join('\n');
    const turn = await conversationOf(
      sql,
      `${other('larch')}\nThe amber pump valve is set to ax1234.`,
      'Nothing to see here',
      `${other('cedar')}\nCorrection: the amber pump valve is set to bo5678 now.`,
    );
    const { conversationId } = turn;
    const found = await searchMemory(sql, { conversationId, query: 'The amber pump valve is set to' });
    const [first, second] = found.filter(({ text: said }) => said.includes('amber'));
    expect([first?.text, second?.text].map((said) => /ax1234|bo5678/u.exec(said ?? '')?.[0])).toEqual([
      'bo5678',
      'ax1234',
    ]);
  });

  it('finds one ideograph within a run of others, and file names however their accents are written', async () => {
    const turn = await conversationOf(
      sql,
      '我的猫叫小白',
      '猫',
      'see Zu\u0308rich-re\u0301sume\u0301.txt',
      '我喜欢猫',
      'nothing',
    );
    expect((await texts(turn, '猫')).toSorted()).toEqual(['我喜欢猫', '我的猫叫小白', '猫'].toSorted());
    expect(await texts(turn, 'Zürich')).toHaveLength(1);
    expect(await texts(turn, 're\u0301sume\u0301')).toHaveLength(1);
  });

  it('folds what was said twice', async () => {
    const turn = await conversationOf(sql, 'The port is 5433', 'something', 'the port  is 5433', 'Which port?');
    const found = await texts(turn, 'port 5433');
    expect(found.filter((each) => each.includes('5433'))).toEqual(['the port  is 5433']);
  });

  it('puts an entry first that the query names by its id', async () => {
    const turn = await conversationOf(sql, 'apples and pears', 'plums');
    const [entry] = await sql<{ id: string }[]>`
      select id from entries where conversation_id = ${turn.conversationId} order by sequence limit 1`;
    const found = await searchMemory(sql, { conversationId: turn.conversationId, query: `plums in ${entry?.id}` });
    expect(found[0]).toMatchObject({ entryId: entry?.id, match: 'id' });
  });

  it('opens what stands around a passage, on its branch', async () => {
    const turn = await conversationOf(sql, 'one', 'two', 'the heron nests', 'four', 'five');
    const [found] = await searchMemory(sql, { conversationId: turn.conversationId, query: 'heron' });
    const id = found?.entryId ?? '';
    const around = await openAround(sql, { conversationId: turn.conversationId, id, count: 1 });
    expect(around?.map((entry) => entry.text)).toEqual(['two', 'the heron nests', 'four']);
    expect(await openAround(sql, { conversationId: newId(), id, count: 1 })).toBeNull();
  });

  it('understands dates of the query against the time of writing', async () => {
    const turn = await conversationOf(sql, 'We signed the lease yesterday', 'We read about a lease', 'We saw a film');
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    expect((await texts(turn, `What was with the lease on ${day}?`))[0]).toBe('We signed the lease yesterday');
    const after = new Date(Date.now() + 60_000).toISOString();
    expect(await texts(turn, 'lease', { after })).toEqual([]);
    expect(await texts(turn, 'lease', { before: after })).toHaveLength(2);
  });

  it('joins question and answer although tools were called between them', async () => {
    const turn = await startTurn(sql, 'Which colour has the lighthouse of Amrum, the tall one?');
    for (const callNumber of [1, 2, 3]) {
      await storeAnswer(
        sql,
        answerWith(turn, callNumber, await register(sql, turn, callNumber), [toolCall(0, 'look', '{"page":"x"}')]),
      );
      await finishToolCall(sql, turn, callNumber, 0, { entryId: newId(), ...text(`page ${callNumber} of a book`) });
    }
    await storeAnswer(
      sql,
      answerWith(turn, 4, await register(sql, turn, 4), [{ type: 'text', text: 'Red and white stripes.' }]),
    );
    const found = await texts(turn, 'colour of the tall lighthouse of Amrum');
    expect(found.slice(0, 2)).toContain('Red and white stripes.');
  });
});

describe('the index', () => {
  it('is brought up to date by upkeep, and rebuilt to the same', async () => {
    const turn = await conversationOf(sql, 'the numbat digs', 'the quoll sleeps', 'the numbat sleeps');
    const { conversationId } = turn;
    const state = async () => ({
      terms: await sql`
        select f.term, f.passages from term_frequencies f
        where f.agent = 'reader' and f.term in (
          select unnest(tsvector_to_array(p.terms)) from passages p where p.conversation_id = ${conversationId})
        order by 1`,
      progress: await sql`select * from search_progress where conversation_id = ${conversationId}`,
    });
    await indexOnce(sql, null);
    const before = await state();
    expect(before.progress[0]).toMatchObject({ passages: 3, throughSequence: 3 });
    expect(before.terms).toContainEqual({ term: 'numbat', passages: 2 });
    expect(await reindexConversation(sql, turn.conversationId)).toEqual({ passages: 3, isWhole: true });
    expect(await state()).toEqual(before);
    expect(await texts(turn, 'quoll')).toEqual(['the quoll sleeps']);
  });
});
