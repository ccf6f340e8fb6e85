import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import { writePieces } from '../../src/store/log/content-pieces.ts';
import { openEntry } from '../../src/store/log/open-entry.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { indexConversation, searchMemory } from '../../src/store/memory/recall-search.ts';
import type { MemoryQuery } from '../../src/store/memory/recall-search.ts';
import { findUnindexedConversations } from '../../src/store/upkeep/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  conversationOf,
  answer,
  answerWith,
  finishToolCall,
  useTestStore,
  register,
  send,
  startTurn,
  step,
  text,
  toolCall,
} from './support/store-builders.ts';
import { compact, planWithCut } from './support/compaction-builders.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';

const { sql, owner } = useTestStore();

async function find({ conversationId }: { conversationId: string }, query: string, rest: Partial<MemoryQuery> = {}) {
  return searchMemory(sql, { conversationId, query, ...rest });
}

async function texts(turn: TurnReference, query: string): Promise<string[]> {
  return (await find(turn, query)).map((passage) => passage.text);
}

describe('searchMemory', () => {
  it('finds what has any of the words, rare words first', async () => {
    const turn = await conversationOf(
      sql,
      'The weather report for Monday',
      'The report about penguins',
      'The report for the board',
      'Nothing to see',
    );
    expect((await texts(turn, 'What does the report say of penguins?'))[0]).toBe('The report about penguins');
    const rare = await conversationOf(sql, 'penguins swim', 'report one', 'report two', 'report three');
    expect((await texts(rare, 'penguins in a report'))[0]).toBe('penguins swim');
    expect(await texts(turn, 'penguins zebra')).toEqual(['The report about penguins']);
  });

  it('indexes a message of millions of characters without a line end, while Postgres ends transactions that pause', async () => {
    const turn = await conversationOf(sql, `${'x'.repeat(3_000_000)} penguins`);
    expect((await texts(turn, 'penguins'))[0]).toMatch(/ penguins$/u);
  });

  it('puts the exact phrase first, although another passage has more of the words', async () => {
    const turn = await conversationOf(
      sql,
      'red blue green lantern lantern',
      'a green lantern',
      'green and lantern red blue',
    );
    const [first] = await find(turn, 'green lantern');
    expect(first).toMatchObject({ match: 'phrase' });
    const exact = await find(turn, 'a green lantern');
    expect(exact[0]).toMatchObject({ text: 'a green lantern', match: 'phrase' });
    expect(exact[1]).toMatchObject({ match: 'words' });
  });

  it('finds identifiers by their parts, paths by their file, and text in scripts without spaces', async () => {
    const turn = await conversationOf(
      sql,
      'see src/store/errors.ts for it',
      'call readFitCheck here',
      'snake_case_name',
      '明天下午三点开会',
      'Das Café in Zürich',
    );
    expect(await texts(turn, 'errors')).toEqual(['see src/store/errors.ts for it']);
    expect(await texts(turn, 'errors.ts')).toEqual(['see src/store/errors.ts for it']);
    expect(await texts(turn, 'fit check')).toEqual(['call readFitCheck here']);
    expect(await texts(turn, 'case')).toEqual(['snake_case_name']);
    expect(await texts(turn, '下午开会')).toEqual(['明天下午三点开会']);
    expect(await texts(turn, 'cafe zurich')).toEqual(['Das Café in Zürich']);
  });

  it.each([
    "'",
    String.raw`a\'b & | ! ( ) <-> :*`,
    '%_\\',
    '"quoted" -minus',
    '\0',
    '\uD800',
    ' ',
    '',
    '!!!',
    'x'.repeat(5_000),
  ])('takes any text for a query: %j', async (query) => {
    const turn = await conversationOf(sql, 'plain');
    expect(await find(turn, query)).toEqual([]);
  });

  it('searches answers, tool calls, tool results, notes and summaries, and filters by kind', async () => {
    const turn = await startTurn(sql, 'walrus question');
    const registered = await register(sql, turn, 1);
    await storeAnswer(
      sql,
      answerWith(turn, 1, registered, [
        { type: 'text', text: 'walrus answer' },
        { type: 'thinking', text: 'walrus secret thought', provider: 'sim' },
        toolCall(0, 'grep', '{"pattern":"walrus"}'),
      ]),
    );
    await finishToolCall(sql, turn, 1, 0, { ...text('walrus result'), plan: text('walrus plan') });
    await step(sql, turn, 2);
    const compactionId = await compact(sql, turn, planWithCut(5), { text: 'walrus summary' });
    const found = await find(turn, 'walrus');
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(['assistant', 'note', 'summary', 'tool_result', 'user']);
    expect(found.find(({ kind }) => kind === 'summary')).toMatchObject({ entryId: compactionId, sequence: null });
    // It is the newest and the shortest, but repeats what originals say.
    expect(found.at(-1)?.kind).toBe('summary');
    expect(found.some(({ text: said }) => said.includes('secret'))).toBe(false);
    expect((await find(turn, 'walrus', { kinds: ['note', 'summary'] })).map(({ kind }) => kind).toSorted()).toEqual([
      'note',
      'summary',
    ]);
    expect(await find(turn, 'walrus', { limit: 2 })).toHaveLength(2);
    const opened = await openEntry(sql, { conversationId: turn.conversationId, id: compactionId, offset: 7, limit: 3 });
    expect(opened).toEqual({ kind: 'summary', totalCharacters: 14, text: 'sum', media: [] });
  });

  it('leaves out results of the tools that search and open, and of no other', async () => {
    const turn = await startTurn(sql, 'hello');
    const names = ['recall_search', 'recall_open', 'grep', 'recall_invoices'];
    const calls = names.map((name, index) => toolCall(index, name, '{"pattern":"x"}'));
    await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), calls));
    await finishToolCall(sql, turn, 1, 0, text('narwhal found before'));
    await finishToolCall(sql, turn, 1, 1, text('narwhal opened before'));
    await finishToolCall(sql, turn, 1, 2, text('narwhal in a file'));
    // A tool of somebody else's whose name begins alike.
    await finishToolCall(sql, turn, 1, 3, text('narwhal on an invoice'));
    expect((await texts(turn, 'narwhal')).toSorted()).toEqual(['narwhal in a file', 'narwhal on an invoice']);
  });

  it('does not find the question of an earlier search, and keeps the offsets of what stands behind it', async () => {
    const turn = await startTurn(sql, 'hello');
    const calls = [toolCall(0, 'recall_search', '{"query":"gharial"}'), toolCall(1, 'grep', '{"pattern":"caiman"}')];
    const long: ContentPart[] = [{ type: 'text', text: 'word '.repeat(250) }, ...calls];
    await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), long));
    expect(await find(turn, 'gharial')).toEqual([]);
    const [found] = await find(turn, 'caiman');
    const { conversationId } = turn;
    const limit = found?.text.length ?? 0;
    const opened = await openEntry(sql, {
      conversationId,
      id: found?.entryId ?? '',
      offset: found?.offset ?? 0,
      limit,
    });
    expect(opened?.text.endsWith('grep {"pattern":"caiman"}')).toBe(true);
  });

  it('sees other conversations as little as what does not exist', async () => {
    await conversationOf(sql, 'the okapi is here');
    const other = await conversationOf(sql, 'nothing');
    expect(await find(other, 'okapi')).toEqual([]);
    expect(await find({ conversationId: newId() }, 'okapi')).toEqual([]);
    expect(await find({ conversationId: 'x' }, 'okapi')).toEqual([]);
  });

  it('finds a passage deep in a long original, at the offset where it can be opened', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    const filler = 'lorem 😀 ipsum dolor sit amet, '.repeat(20_000);
    const whole = `${filler}the quokka sleeps${filler}`;
    const original = await writePieces(sql, turn.conversationId, [Buffer.from(whole)]);
    const entryId = newId();
    await finishToolCall(sql, turn, 1, 0, { entryId, ...text('clipped'), original });
    const [found] = await find(turn, 'quokka');
    expect(found).toMatchObject({ entryId, kind: 'tool_result' });
    const opened = await openEntry(sql, {
      conversationId: turn.conversationId,
      id: entryId,
      offset: found?.offset ?? 0,
      limit: found?.text.length ?? 0,
    });
    expect(opened?.text).toBe(found?.text);
    expect(found?.text).toContain('the quokka sleeps');
  });

  it('keeps offsets where characters had to be replaced', async () => {
    const turn = await conversationOf(sql, `${'\0\uD800 '.repeat(600)}the axolotl`);
    const [found] = await find(turn, 'axolotl');
    const opened = await openEntry(sql, {
      conversationId: turn.conversationId,
      id: found?.entryId ?? '',
      offset: found?.offset ?? 0,
      limit: 9_999,
    });
    expect(opened?.text.endsWith('the axolotl')).toBe(true);
    expect(opened?.text.length).toBe(found?.text.length);
  });

  it('gives the same order each time, newest first among equals', async () => {
    const turn = await conversationOf(sql, 'tapir one', 'tapir two', 'tapir three');
    const first = await texts(turn, 'tapir');
    expect(first).toEqual(['tapir three', 'tapir two', 'tapir one']);
    expect(await texts(turn, 'tapir')).toEqual(first);
  });
});

describe('indexConversation', () => {
  it('indexes each entry once when many search at the same time', async () => {
    const turn = await conversationOf(sql, ...Array.from({ length: 30 }, (_, index) => `ibex ${index}`));
    const counts = await Promise.all(Array.from({ length: 8 }, () => indexConversation(sql, turn.conversationId)));
    expect(counts.reduce((sum, { passages }) => sum + passages, 0)).toBe(30);
    expect(await find(turn, 'ibex', { limit: 100 })).toHaveLength(30);
  });

  it('leaves nothing half done when it breaks off, and does it all the next time', async () => {
    const turn = await conversationOf(sql, ...Array.from({ length: 30 }, (_, index) => `oryx ${index}`));
    const { conversationId } = turn;
    await owner`
      create function break_off() returns trigger language plpgsql as $$
      begin if new.term = '29' then raise exception 'broken off'; end if; return new; end $$`;
    await owner`create trigger break_off before insert on term_frequencies for each row execute function break_off()`;
    try {
      await expect(indexConversation(sql, conversationId)).rejects.toThrow('broken off');
    } finally {
      await owner`drop function break_off cascade`;
    }
    // The passages were written before their terms: they are gone with the rest.
    expect(await sql`select from passages where conversation_id = ${conversationId}`).toHaveLength(0);
    expect(await find(turn, 'oryx', { limit: 100 })).toHaveLength(30);
  });

  it('knows which conversations of a queue are behind', async () => {
    const turn = await conversationOf(sql, 'behind');
    const isBehind = async (taskQueue = 'agent-turn') =>
      (await findUnindexedConversations(sql, { taskQueue, limit: 1_000 })).some(
        ({ conversationId }) => conversationId === turn.conversationId,
      );
    expect([await isBehind(), await isBehind('other')]).toEqual([true, false]);
    await indexConversation(sql, turn.conversationId);
    expect(await isBehind()).toBe(false);
    await send(sql, { conversationId: turn.conversationId, ...text('more') });
    await takeMessages(sql, turn);
    expect(await isBehind()).toBe(true);
  });
});
