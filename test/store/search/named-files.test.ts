import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { pathIn, wordsOfPath } from '../../../src/store/search/paths.ts';
import { storeAnswer } from '../../../src/store/store-answer.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import {
  answerWith,
  conversationOf,
  finishToolCall,
  register,
  text,
  toolCall,
  useTestStore,
} from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

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

  it('is not listed for the name of its file alone', async () => {
    const turn = await conversationOf(sql, 'Read the notes.');
    await readFile(turn, 1, 'notes/numbat.md', 'They eat termites and sleep in logs.');
    await readFile(turn, 2, 'notes/list.md', 'Wombat, numbat, quokka.');
    const found = await searchMemory(sql, { conversationId: turn.conversationId, query: 'numbat', limit: 20 });
    expect(found.filter(({ kind }) => kind === 'tool_result').map(({ path }) => path)).toEqual(['notes/list.md']);
  });

  it('names its file also where it was indexed before passages knew theirs', async () => {
    const { conversationId } = await logsOf(1);
    const find = async () => searchMemory(sql, { conversationId, query: 'valve opens', kinds: ['tool_result'] });
    const before = await find();
    expect(before.map(({ path }) => path)).toEqual(['logs/pump-1.txt']);
    await sql`update passages set path = null`;
    expect(await find()).toEqual(before);
  });

  it('is news of the same file, however its path is written, and of no other', async () => {
    const turn = await conversationOf(sql, 'Read the settings.');
    const { conversationId } = turn;
    const says = (port: number, server = 'server'): string =>
      `The ${server} listens on port ${port} of all addresses of the machine.`;
    const order = async () => {
      const found = await searchMemory(sql, {
        conversationId,
        query: 'on which port listens the web server',
        kinds: ['tool_result'],
      });
      return found.map(({ text: shown }) => Number(/\d+/u.exec(shown)?.[0]));
    };
    await readFile(turn, 1, 'web/settings.md', says(8080, 'web server'));
    await readFile(turn, 2, 'mail/settings.md', says(2525));
    expect(await order()).toEqual([8080, 2525]);
    await readFile(turn, 3, '/srv/web/settings.md', says(8443));
    expect(await order()).toEqual([8443, 8080, 2525]);
  });

  it.each([3, 200])('is shown of the file that the query names where %i say the same', async (count) => {
    const turn = await conversationOf(sql, 'Read the licences.');
    const { conversationId } = turn;
    const names = Array.from(
      { length: count },
      (_, index) => `library${String.fromCodePoint(97 + (index % 26))}${index}`,
    );
    const licence = 'Permission is hereby granted, free of charge, to any person obtaining a copy of this software.';
    for (const [index, name] of names.entries())
      await readFile(turn, index + 1, `node_modules/${name}/LICENSE`, licence);
    for (const name of [names[0], names[1], names.at(-1)]) {
      const query = `permission free of charge ${name}`;
      const found = await searchMemory(sql, { conversationId, query, kinds: ['tool_result'] });
      expect(
        found.map(({ path }) => path),
        query,
      ).toEqual([`node_modules/${name}/LICENSE`]);
    }
  });
});

describe('the words of a path', () => {
  const wordsIn = (path: string) => [...new Set(wordsOfPath(path).map((word) => word.text))].toSorted();

  it('are the path, the nearest names and their parts, without endings and numbers', () => {
    expect(wordsIn('./logs/pump-2.txt')).toEqual(['logs', 'logs/pump-2.txt', 'pump', 'pump-2', 'pump-2.txt']);
    expect(wordsIn('/srv/app/src/store/passageWriter.ts')).toEqual(
      [
        'passage',
        'passagewriter',
        'passagewriter.ts',
        'src',
        'srv/app/src/store/passagewriter.ts',
        'store',
        'writer',
      ].toSorted(),
    );
    expect(wordsIn('.env')).toEqual(['env']);
    expect(wordsIn('报告/数据.md')).toEqual(['报告', '数据']);
  });

  it('are few, whatever the model wrote', () => {
    expect(wordsIn(pathIn({ path: 'a/'.repeat(100_000) })).length).toBeLessThan(10);
    for (const written of ['{"path": "a/b.txt', '{"path": 7}', '[]', 'null', null])
      expect(wordsIn(pathIn(written))).toEqual([]);
  });
});
