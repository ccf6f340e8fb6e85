import { spawn } from 'node:child_process';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { idempotencyKeyOf } from '../../src/store/tool-call-keys.ts';
import { claimToolCall } from '../../src/store/tool-calls.ts';
import { markInterrupted } from '../../src/store/upkeep.ts';
import { findMarkedProcesses } from '../../src/tools/end-processes.ts';
import { endStrayCommands } from '../../src/worker/stray-commands.ts';
import {
  answer,
  claimer,
  closeToolCall,
  finishToolCall,
  openTestStore,
  startTurn,
} from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

test.runIf(process.platform === 'linux')(
  'a worker ends what is left of commands whose call is closed, and nothing else',
  async () => {
    const turn = await startTurn(store.sql);
    await answer(store.sql, turn, 1, { calls: 2 });
    await finishToolCall(store.sql, turn, 1, 0);
    await claimToolCall(store.sql, { turn, callNumber: 1, callIndex: 1, ...claimer('alive') });
    const closed = idempotencyKeyOf({ turn, callNumber: 1, callIndex: 0 });
    const running = idempotencyKeyOf({ turn, callNumber: 1, callIndex: 1 });
    const others = ['not-a-call', '0199aaaa-0000-7000-8000-000000000000:1:0', running];
    for (const key of [closed, ...others]) {
      const child = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], HOLDFAST_TOOL_CALL: key } });
      onTestFinished(() => void child.kill('SIGKILL'));
    }
    await waitUntil('all run', async () => {
      const found = await Promise.all([closed, ...others].map((key) => findMarkedProcesses(key)));
      return found.every((processes) => processes.length === 1);
    });
    const stop = endStrayCommands(store.sql, pino({ level: 'silent' }));
    onTestFinished(stop);
    await waitUntil('the stray is gone', async () => (await findMarkedProcesses(closed)).length === 0);
    for (const key of others) expect(await findMarkedProcesses(key)).toHaveLength(1);
  },
);

test.runIf(process.platform === 'linux')(
  'what a killed worker left running of a command is ended although its conversation was deleted before anybody looked',
  async () => {
    const { sql } = store;
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 2 });
    await claimToolCall(sql, { turn, callNumber: 1, callIndex: 0, ...claimer('dead') });
    await finishToolCall(sql, turn, 1, 1);
    const key = idempotencyKeyOf({ turn, callNumber: 1, callIndex: 0 });
    const child = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], HOLDFAST_TOOL_CALL: key } });
    onTestFinished(() => void child.kill('SIGKILL'));
    await waitUntil('it runs', async () => (await findMarkedProcesses(key)).length === 1);
    expect(await markInterrupted(sql, turn, closeToolCall)).toBe(true);
    await deleteConversation(sql, turn.conversationId);
    // Of a call that its own worker ended nothing is kept.
    expect(await sql`select key_hash from deleted_calls`).toHaveLength(1);
    const stop = endStrayCommands(sql, pino({ level: 'silent' }));
    onTestFinished(stop);
    await waitUntil('the stray is gone', async () => (await findMarkedProcesses(key)).length === 0);
  },
);
