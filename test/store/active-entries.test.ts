import { expect, test } from 'vitest';
import { readActiveEntryIds } from '../../src/store/log/active-entries.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answerWith, finishToolCall, useTestStore, register, startTurn, toolCall } from './support/store-builders.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';

const { sql } = useTestStore();

async function readFile(turn: TurnReference, callNumber: number, path: string): Promise<void> {
  const call = toolCall(0, 'read_file', JSON.stringify({ path }));
  await storeAnswer(sql, answerWith(turn, callNumber, await register(sql, turn, callNumber), [call]));
  await finishToolCall(sql, turn, callNumber, 0);
}

test('C22 D10 keep.activeFiles.messages: the newest messages make a file active, older entries that name it stay', async () => {
  const turn = await startTurn(sql, 'Compare src/first.ts with the rest.');
  const paths = ['src/first.ts', 'src/second.ts', 'src/first.ts', 'src/second.ts'];
  for (const [index, path] of paths.entries()) await readFile(turn, index + 1, path);
  const { conversationId } = turn;
  const entries = await listEntries(sql, { conversationId });
  const sequences = entries.map(({ sequence }) => sequence);
  const active = async (messages: number): Promise<number[]> => {
    const ids = await readActiveEntryIds(sql, { conversationId, sequences, messages });
    return entries.filter(({ id }) => ids.has(id)).map(({ sequence }) => sequence);
  };
  // 1 message; 2-3, 4-5, 6-7, 8-9 the four reads. The newest two messages are the last read and its result.
  expect(await active(2)).toEqual([4]);
  expect(await active(4)).toEqual([1, 2, 4]);
  expect(await active(100)).toEqual([]);
});
