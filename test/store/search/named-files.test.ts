import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { searchMemory, countUnindexed, indexConversation } from '../../../src/store/memory/recall-search.ts';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import {
  answerWith,
  conversationOf,
  finishToolCall,
  register,
  text,
  toolCall,
  useTestStore,
  answer,
  startTurn,
  step,
} from '../support/store-builders.ts';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import { writePieces } from '../../../src/store/log/content-pieces.ts';
import { recallOpen } from '../../../src/tools/builtin/recall-open.ts';
import { recallSearch } from '../../../src/tools/builtin/recall-search.ts';
import { call } from '../../tools/support/tool-context.ts';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';

const { sql } = useTestStore();

async function readFile(turn: TurnReference, callNumber: number, path: string, says: string): Promise<void> {
  const call = toolCall(0, 'read_file', JSON.stringify({ path }));
  await storeAnswer(sql, answerWith(turn, callNumber, await register(sql, turn, callNumber), [call]));
  await finishToolCall(sql, turn, callNumber, 0, text(says));
}

/** Logs of several passages; the name stands in the first of each, what is asked for in another one. */
async function logsOf(pumps: number): Promise<TurnReference> {
  const turn = await conversationOf(sql, 'Read the logs of all pumps and report when each of them opens.');
  const day = 'Day after day the motor and the gauge were checked, the filter was quiet and the tank stayed full.';
  const days = Array.from({ length: 20 }, (_, number) => `${number}\t${day}`).join('\n');
  for (let pump = 1; pump <= pumps; pump += 1) {
    const says = `# pump-${pump}\nfile: logs/pump-${pump}.txt\n${days}\nThe valve opens at ${pump}7.5 bar.\n${days}`;
    await readFile(turn, pump, `logs/pump-${pump}.txt`, says);
  }
  return turn;
}

describe('what a file says', () => {
  it('is found by the name of the file and words of its own, wherever in the file they stand', async () => {
    const { conversationId } = await logsOf(8);
    for (const pump of [1, 5, 8]) {
      for (const query of [`pump-${pump} opens at`, `valve opens at … bar, logs/pump-${pump}.txt`]) {
        const [best] = await searchMemory(sql, { conversationId, query, limit: 3 });
        expect(best, query).toMatchObject({ kind: 'tool_result', path: `logs/pump-${pump}.txt` });
        expect(best?.text, query).toContain(`opens at ${pump}7.5 bar`);
      }
    }
  });

  it('is found for what it says, not for the name of its file alone', async () => {
    const turn = await conversationOf(sql, 'We agreed that the upkeep of the pumps is done each May.');
    const { conversationId } = turn;
    for (let call = 1; call <= 60; call += 1) await readFile(turn, call, `src/upkeep/part-${call}.ts`, `Part ${call}.`);
    for (const query of ['upkeep', 'what of the upkeep?']) {
      const found = await searchMemory(sql, { conversationId, query, limit: 20, kinds: ['user', 'tool_result'] });
      expect(found[0]?.text, query).toContain('upkeep of the pumps');
      expect(
        found.filter(({ match }) => match === 'neighbour'),
        query,
      ).toEqual([]);
    }
    const found = await searchMemory(sql, { conversationId, query: 'upkeep', limit: 20, kinds: ['tool_result'] });
    expect(found).toEqual([]);
  });

  it('says by which words of its name it was found', async () => {
    const { conversationId } = await logsOf(3);
    const [best] = await searchMemory(sql, { conversationId, query: 'pump-3 opens at', limit: 1 });
    expect(best?.matched).toEqual(expect.arrayContaining(['pump', 'opens', 'at']));
    expect(best?.forms).not.toContain('pump');
  });

  it('goes above what was read before, unless that is of the file that the query names', async () => {
    const turn = await conversationOf(sql, 'Read the settings.');
    const { conversationId } = turn;
    const says = (port: number): string => `The server listens on port ${port} of all addresses of the machine.`;
    const portsFor = async (query: string) => {
      const found = await searchMemory(sql, { conversationId, query, kinds: ['tool_result'] });
      return found.map(({ text: shown }) => Number(/\d+/u.exec(shown)?.[0]));
    };
    await readFile(turn, 1, 'web/settings.md', says(8080));
    await readFile(turn, 2, 'mail/settings.md', says(2525));
    expect(await portsFor('on which port does the server listen')).toEqual([2525, 8080]);
    expect(await portsFor('on which port does the web server listen')).toEqual([8080, 2525]);
    await readFile(turn, 3, '/srv/web/settings.md', says(8443));
    expect(await portsFor('on which port does the web server listen')).toEqual([8443, 8080, 2525]);
  });

  it('is shown of the file that the query names first where several say the same', async () => {
    const turn = await conversationOf(sql, 'Read the licences.');
    const { conversationId } = turn;
    const licence = 'Permission is hereby granted, free of charge, to any person obtaining a copy of this software.';
    for (const [index, name] of ['hono', 'fastify', 'express'].entries()) {
      await readFile(turn, index + 1, `node_modules/${name}/LICENSE`, licence);
    }
    const shown = async (query: string) => {
      const found = await searchMemory(sql, { conversationId, query, kinds: ['tool_result'] });
      return found.map(({ path }) => path);
    };
    expect((await shown('permission free of charge hono'))[0]).toBe('node_modules/hono/LICENSE');
    expect((await shown('permission free of charge express'))[0]).toBe('node_modules/express/LICENSE');
    expect(await shown('permission free of charge')).toEqual(['node_modules/express/LICENSE']);
  });
});

const INDEXED = 4_000_000;

/** A log with a word shortly before the bound, and another far behind it. */
function longLog(): string {
  const line = 'The site answered within the second, as on every day before.\n';
  const lines = (characters: number): string => line.repeat(Math.ceil(characters / line.length));
  return `${lines(INDEXED - 10_000)}The numbat sleeps.\n${lines(300_000)}The quoll sleeps.\n`;
}

it('of an original over 4,000,000 characters a search knows the beginning, says so, and the rest is opened', async () => {
  const turn = await startTurn(sql);
  const log = longLog();
  await step(sql, turn, 1);
  await answer(sql, turn, 2, { calls: 1 });
  const original = await writePieces(sql, turn.conversationId, [Buffer.from(log)]);
  const result = await finishToolCall(sql, turn, 2, 0, { ...text('The site …'), original });
  if (result.state !== 'stored') throw new Error('the result came late');
  const { entryId } = result;
  const memory = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, turn.conversationId);
  const search = async (query: string): Promise<string> =>
    (await call(recallSearch, { input: { query }, context: { memory } })).text;
  const rest = `[of entry ${entryId} only the first ${INDEXED} of ${log.length} characters are searched; recall_open reads on from offset ${INDEXED}]`;
  const before = await search('numbat');
  expect(before).toContain('The numbat sleeps.');
  expect(before.endsWith(rest)).toBe(true);
  expect(await search('quoll')).toBe(
    `[nothing found; try other words, fewer words, or a word that must stand in the text]\n\n${rest}`,
  );
  const input = { entry_id: entryId, offset: log.length - 100 };
  expect((await call(recallOpen, { input, context: { memory } })).text).toContain('The quoll sleeps.');
});

it('nothing is said where all is searched', async () => {
  const turn = await startTurn(sql, 'The numbat sleeps.');
  const memory = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, turn.conversationId);
  expect((await call(recallSearch, { input: { query: 'numbats' }, context: { memory } })).text).not.toContain(
    'searched',
  );
});

async function load(agent: string, texts: readonly string[]): Promise<string> {
  const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
  await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
  return conversationId;
}

it('a rare word of an agent is found among thousands of passages, misspelt too, and words that all of them have in the newest', async () => {
  const oldest = await load('bench-of-old', ['the quokka key lies under the mat', 'common things then']);
  await indexConversation(sql, oldest);
  const many = await load(
    'bench-of-old',
    Array.from({ length: 2_500 }, (_, line) => `common things of day ${line}, under the roof`),
  );
  await indexConversation(sql, many);
  const find = async (query: string) =>
    (await searchMemory(sql, { agent: 'bench-of-old', query })).map((found) => found.conversationId);
  for (const query of ['quokka', 'under which mat does the quokka key lie', '"quokka key"', 'qoukka', 'quoka']) {
    expect((await find(query))[0], query).toBe(oldest);
  }
  const common = await searchMemory(sql, { agent: 'bench-of-old', query: 'common things' });
  expect(common).toHaveLength(10);
  expect(common[0]?.text).toContain('day 2499');
});

it('a search indexes a part of a backlog, and the rest is counted', async () => {
  const agent = 'bench-of-backlog';
  const ids: string[] = [];
  for (let index = 0; index < 25; index += 1)
    ids.push(await load(agent, ['common things', `the numbat of day ${index}`]));
  const found = await searchMemory(sql, { agent, query: 'numbat' });
  expect(found.length).toBeGreaterThan(0);
  expect(await countUnindexed(sql, { agent })).toBeGreaterThanOrEqual(10);
  for (const id of ids) await indexConversation(sql, id);
  expect(await countUnindexed(sql, { agent })).toBe(0);
  expect(await searchMemory(sql, { agent, query: 'numbat', limit: 30 })).toHaveLength(25);
});
