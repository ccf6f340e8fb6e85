import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { orderedCrashPoints } from '../../src/activities/runtime/crash-points.ts';
import { observeWrites } from '../../src/activities/runtime/observe-writes.ts';
import { startTurn, useTestStore } from '../store/support/store-builders.ts';

const { sql } = useTestStore();

test('a crash point stands behind each commit that changed a row, and nowhere else', async () => {
  const { conversationId } = await startTurn(sql);
  const commits: string[] = [];
  const database = observeWrites(sql, (writes) => void commits.push(writes.join(', ')));
  const rename = database`update conversations set agent = 'a' where id = ${conversationId}`;
  expect(commits).toEqual([]);
  await rename;
  await database`update conversations set agent = 'b' where id = ${conversationId} and agent = 'c'`;
  await database`select from conversations for update`;
  await database.begin('read only', (open) => open`select from conversations`);
  await database.begin(async (open) => {
    await open`select from conversations where id = ${conversationId} for no key update`;
    await open`insert into search_progress (conversation_id) values (${conversationId}) on conflict do nothing`;
    await open`update conversations set agent = 'd' where id = ${conversationId}`;
    expect(commits).toHaveLength(1);
  });
  await expect(
    database.begin(async (open) => {
      await open`update conversations set agent = 'e' where id = ${conversationId}`;
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(commits).toEqual(['update conversations', 'insert search_progress, update conversations']);
});

test('what is not a crash point is refused', () => {
  for (const setting of ['runTool:claimed', 'runTool', 'runTool:write@0']) {
    expect(() => orderedCrashPoints(setting)).toThrow(RangeError);
  }
});

test('the process dies by SIGKILL at the arrival that was named, or when a file orders it, not before', async () => {
  // The compiled one, which starts without a compiler.
  const module = fileURLToPath(new URL('../../dist/activities/runtime/crash-points.js', import.meta.url));
  const orders = join(await mkdtemp(join(tmpdir(), 'holdfast-orders-')), 'orders');
  const dying = async (setting: string, order: string): Promise<unknown> => {
    const script = `
      const { writeFileSync } = await import('node:fs');
      const { asyncLocalStorage } = await import('@temporalio/activity');
      const { orderedCrashPoints } = await import(${JSON.stringify(module)});
      const { reached } = orderedCrashPoints(${JSON.stringify(setting)}, ${JSON.stringify(orders)});
      const reach = (activityType, point) => asyncLocalStorage.run({ info: { activityType } }, () => reached(point));
      reach('summarize', 'answered'); reach('runTool', 'finished'); console.log('alive');
      writeFileSync(${JSON.stringify(orders)}, ${JSON.stringify(order)});
      reach('summarize', 'answered'); console.log('survived');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    await rm(orders, { force: true });
    return { signal, output };
  };
  expect(await dying('summarize:answered@2', '')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'summarize:answered')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'runTool:finished')).toEqual({ signal: null, output: 'alive\nsurvived\n' });
});
