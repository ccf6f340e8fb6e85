import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ACTIVITIES_OF_CRASH_POINTS, pointsNamed } from '../../src/activities/runtime/crash-points.ts';
import { createActivities } from '../../src/activities/create-activities.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { activityDependencies } from './support/activity-dependencies.ts';

test('every activity says where it writes', async () => {
  // Nothing is asked of it.
  const database = connectDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
  const activities = createActivities(activityDependencies(database));
  expect(Object.keys(activities).sort()).toEqual([...ACTIVITIES_OF_CRASH_POINTS].sort());
  await database.end();
});

test('every write of an activity is named, and one name stands for all of them', () => {
  expect(pointsNamed('commitCompaction:after-write')).toEqual([
    'commitCompaction:written',
    'commitCompaction:logged',
    'commitCompaction:replanned',
    'commitCompaction:ended',
    'commitCompaction:noted',
    'commitCompaction:limit-noted',
  ]);
  expect(pointsNamed('lookForStop:after-write')).toEqual([]);
  expect(pointsNamed('callModel:answered')).toEqual(['callModel:answered']);
});

test('the process dies by SIGKILL at the arrival that was named, or when a file orders it, not before', async () => {
  // The compiled one, which starts without a compiler.
  const module = fileURLToPath(new URL('../../dist/activities/runtime/crash-points.js', import.meta.url));
  const orders = join(await mkdtemp(join(tmpdir(), 'holdfast-orders-')), 'orders');
  const dying = async (setting: string, order: string): Promise<unknown> => {
    const script = `
      const { writeFileSync } = await import('node:fs');
      const { parseCrashPoints } = await import(${JSON.stringify(module)});
      const reach = parseCrashPoints(${JSON.stringify(setting)}, ${JSON.stringify(orders)});
      reach('summarize:stored'); reach('runTool:claimed'); console.log('alive');
      writeFileSync(${JSON.stringify(orders)}, ${JSON.stringify(order)});
      reach('summarize:stored'); console.log('survived');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    await rm(orders, { force: true });
    return { signal, output };
  };
  expect(await dying('summarize:stored@2', '')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'summarize:after-write')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'runTool:claimed')).toEqual({ signal: null, output: 'alive\nsurvived\n' });
});
