import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./dying-sender.mjs', import.meta.url));
/** What applications import, compiled. */
const ENTRY_POINT = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

export interface DyingSender {
  /** SIGKILL. */
  kill(): void;
  /** Resolves with what ended it; `null`: it ended by itself. */
  readonly signal: Promise<string | null>;
}

/** A process that sends one message and lives on until it is killed. @param where database, Temporal's address, queue and conversation */
export function startDyingSender(where: readonly [string, string, string, string]): DyingSender {
  const child = spawn(process.execPath, [SCRIPT, ENTRY_POINT, ...where], { stdio: ['ignore', 'ignore', 'inherit'] });
  const signal = new Promise<string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_, by) => resolve(by));
  });
  return { kill: () => child.kill('SIGKILL'), signal };
}
