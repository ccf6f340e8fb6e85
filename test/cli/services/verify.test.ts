import { expect, test } from 'vitest';
import { z } from 'zod';
import { PLAIN_STYLE } from '../../../src/cli/render/text/style.ts';
import { verificationLines } from '../../../src/cli/render/lists/verification-lines.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { end } from '../../store/support/branch-builders.ts';
import {
  answer,
  continueConversation,
  register,
  send,
  startTurn,
  useTestStore,
} from '../../store/support/store-builders.ts';
import { parseOutput } from '../cli-result.ts';
import { runInProcess } from '../run-in-process.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

const cli = (...args: string[]) => runInProcess(args, { environment: { DATABASE_URL: url } });

test('model calls that were perhaps paid twice are named by conversation, turn and call, the first ten; as JSON all of them', async () => {
  const first = await startTurn(sql, 'Say one');
  const { conversationId } = first;
  await end(sql, first);
  await send(sql, { conversationId });
  const turn = await continueConversation(sql, conversationId);
  for (let callNumber = 1; callNumber <= 12; callNumber += 1) {
    // A worker asked and was lost; the next one was answered.
    await register(sql, turn, callNumber);
    await answer(sql, turn, callNumber);
  }
  const { stdout } = await cli('verify', conversationId, '--no-histories');
  const lines = stdout.split('\n');
  const from = lines.findIndex((line) => line.startsWith('12 model calls tried again'));
  expect(lines.slice(from, from + 12)).toEqual([
    expect.stringMatching(/perhaps paid twice .*:$/u),
    ...Array.from({ length: 10 }, (_, index) => `    ${conversationId}  turn 2: call 2.${index + 1}, 2 tries`),
    '    and 2 more',
  ]);
  const json = await cli('verify', conversationId, '--no-histories', '--json');
  const { repeatedCalls } = parseOutput(
    json,
    z.object({ repeatedCalls: z.array(z.object({ turn: z.number(), callNumber: z.number(), tries: z.number() })) }),
  );
  expect(repeatedCalls).toEqual(
    Array.from({ length: 12 }, (_, index) => ({ turn: 2, callNumber: index + 1, tries: 2 })),
  );
});

test('a summary that was perhaps paid twice is named by what it was for', () => {
  const call = { conversationId: 'c', turnId: 't', turn: 3, callNumber: 7, tries: 2 };
  const lines = verificationLines(
    {
      conversations: 1,
      entries: 9,
      turns: 3,
      invariants: [],
      repeatedCalls: [{ ...call, summary: { compactionId: 'k', part: 2 } }],
      histories: null,
      journal: null,
    },
    { columns: null, style: PLAIN_STYLE },
  );
  expect(lines).toContain('    c  turn 3: part 2 of compaction k, 2 tries');
});
