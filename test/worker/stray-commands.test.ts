import { spawn } from 'node:child_process';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { idempotencyKeyOf } from '../../src/store/attempts/tool-call-rows.ts';
import { claimToolCall } from '../../src/store/attempts/tool-calls.ts';
import { findMarkedProcesses } from '../../src/tools/process/end-processes.ts';
import { endStrayCommands } from '../../src/worker/stray-commands.ts';
import { answer, claimer, finishToolCall, openTestStore, startTurn } from '../store/support/store-builders.ts';
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
