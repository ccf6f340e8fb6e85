import { main as runAsProcess } from 'holdfast/internal/cli/main.js';
import { labCommand } from './lab-command.ts';

/** Runs `holdfast-lab` as a process, which ends with it. */
export async function main(argv: readonly string[]): Promise<void> {
  await runAsProcess(argv, async () => labCommand());
}
