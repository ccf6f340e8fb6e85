import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseCrashPoints } from '../../src/activities/crash-points.ts';

test('without a setting every point is passed', () => {
  const reach = parseCrashPoints(undefined);
  expect(() => reach('runTool:claimed')).not.toThrow();
});

test.each(['runTool:nowhere', 'runTool:claimed@0', 'runTool:claimed@x'])(
  '%s is refused and the points are named',
  (setting) => {
    expect(() => parseCrashPoints(setting)).toThrow(/is not a crash point; use .*commitCompaction:written/);
  },
);

test('the process dies by SIGKILL at the arrival that was named, not before', async () => {
  const module = fileURLToPath(new URL('../../src/activities/crash-points.ts', import.meta.url));
  const script = `
    const { parseCrashPoints } = await import(${JSON.stringify(module)});
    const reach = parseCrashPoints('summarize:stored@2');
    reach('summarize:stored'); reach('runTool:claimed'); console.log('alive'); reach('summarize:stored'); console.log('survived');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ signal, output }).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
});
