import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { end, go } from '../store/support/branch-builders.ts';
import { continueConversation, send, startTurn, step, useTestStore } from '../store/support/store-builders.ts';
import { runInProcess } from './run-in-process.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

// A refusal asks Temporal whether the turn is still there, and need not know: nothing listens at this address.
const cli = (...args: string[]) =>
  runInProcess(args, { environment: { DATABASE_URL: url, TEMPORAL_ADDRESS: '127.0.0.1:1' } });

test('a command that changes the branch is refused while a turn runs, and leaves nothing waiting', async () => {
  const first = await startTurn(sql, 'Read the file.');
  const { conversationId } = first;
  await step(sql, first, 1);
  await end(sql, first);
  await go(sql, conversationId, { entryId: null, summarizes: false });
  await send(sql, { conversationId });
  await step(sql, await continueConversation(sql, conversationId), 1);
  const message = (await listEntries(sql, { conversationId })).find(({ kind }) => kind === 'user')?.id ?? '';
  const waiting = async (): Promise<number> =>
    (await sql`select from messages where conversation_id = ${conversationId}`).length;
  const before = await waiting();
  for (const args of [
    ['branch', 'fork', conversationId, '--at', 'start'],
    ['branch', 'edit', conversationId, message, 'Read another file.'],
  ]) {
    const { code, stdout, stderr } = await cli(...args);
    expect({ command: args[0], code, stdout, stderr }).toEqual({
      command: args[0],
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/(?:^|\n)error \(conversation_busy\): .*is at work.*\nnext: /u),
    });
  }
  expect(await waiting()).toBe(before);
});
