import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { signalProcess } from '../src/local/process-signals.ts';

/** Process ids of the children of a process. */
export async function childrenOf(processId: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout.split('\n').flatMap((line) => {
    const [child = 0, parent = 0] = line.trim().split(/\s+/u).map(Number);
    return parent === processId ? [child] : [];
  });
}

export function signalAll(processIds: readonly number[], signal: NodeJS.Signals): void {
  for (const processId of processIds) signalProcess(processId, signal);
}
