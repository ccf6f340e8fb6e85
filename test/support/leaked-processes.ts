import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The temporary folder of a run of the tests, in the environment of everything that the run starts. */
const VARIABLE = 'TMPDIR';

export interface FoundProcess {
  readonly processId: number;
  readonly command: string;
}

/** Synchronously, for half the processor time: each of the thread pool's reads of a file is four trips. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A process may end between the listing and the reading.
    return '';
  }
}

function linuxProcesses(directory: string): FoundProcess[] {
  const found: FoundProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    if (!readIfThere(`/proc/${entry}/environ`).includes(`${VARIABLE}=${directory}`)) continue;
    const command = readIfThere(`/proc/${entry}/cmdline`);
    // A zombie has neither.
    if (command !== '') found.push({ processId: Number(entry), command: command.replaceAll('\0', ' ').trim() });
  }
  return found;
}

function otherProcesses(directory: string): FoundProcess[] {
  const lines = execFileSync('ps', ['-axwwE', '-o', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }).split('\n');
  return lines.flatMap((line) => {
    const match = /^\s*(\d+) (.*)$/.exec(line);
    if (match === null || !line.includes(`${VARIABLE}=${directory}`)) return [];
    return [{ processId: Number(match[1]), command: (match[2] ?? '').slice(0, 200) }];
  });
}

/** Processes of the run that uses this temporary folder, except this one and vitest's own workers, which are still closing. */
export async function processesOfRun(directory: string): Promise<FoundProcess[]> {
  const all = process.platform === 'linux' ? linuxProcesses(directory) : otherProcesses(directory);
  return all.filter(
    ({ processId, command }) => processId !== process.pid && !/vitest[\\/].*workers|esbuild.*--service/.test(command),
  );
}

const GRACE_MILLISECONDS = 3000;

/** Waits a moment for what is about to end, then returns what is left. */
export async function leakedProcesses(directory: string): Promise<FoundProcess[]> {
  const end = Date.now() + GRACE_MILLISECONDS;
  for (;;) {
    const found = await processesOfRun(directory);
    if (found.length === 0 || Date.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** One line per process, for the failure of the run. */
export function describeLeaks(leaked: readonly FoundProcess[]): string {
  return [
    `${leaked.length} leaked: processes that tests started and left running:`,
    ...leaked.map(({ processId, command }) => `  ${processId} ${command}`),
  ].join('\n');
}
