import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../soak/options.ts';
import { runSoak } from '../../soak/run-soak.ts';

test('a process that outlives a run is a violation of that run', async () => {
  const options = { ...DEFAULT_OPTIONS, kills: 0, workers: 1, conversations: 1, files: 2, lines: 5, latency: 10 };
  let left: ChildProcess | undefined;
  // As what a command of the run leaves behind: it inherits where the run keeps its files.
  const onProgress = (): void => {
    left ??= spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
  };
  try {
    const { violations } = await runSoak(options, { onProgress });
    expect(violations).toEqual([{ name: 'process_left', found: `${left?.pid} sleep 100` }]);
  } finally {
    left?.kill('SIGKILL');
  }
});
