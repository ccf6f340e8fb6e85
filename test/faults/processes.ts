import { readdir, readFile } from 'node:fs/promises';
import { signalProcess } from '../../src/local/process-signals.ts';

/** A process and all that descends from it. Linux only. */
export async function familyOf(processId: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // The name in parentheses may hold anything; the parent is the second field behind it. Gone meanwhile: no field.
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const family = [processId];
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

/** Stops or wakes all of them. */
export function signalAll(processIds: readonly number[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const processId of processIds) signalProcess(processId, signal);
}
