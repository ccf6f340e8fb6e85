import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/main.ts';
import { OWN_VARIABLE } from './cli-result.ts';
import type { CliOptions, CliResult } from './cli-result.ts';

const OUTPUTS = ['stdout', 'stderr'] as const;

let running = false;

function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

/**
 * Runs a command in this process, which takes milliseconds where a process takes most of a second. What belongs to the
 * process itself (signals, pipes, that it ends) is tested with `runCli`.
 * @param load another program than `holdfast`
 */
export async function runInProcess(
  args: readonly string[],
  { environment, directory, input = '' }: CliOptions = {},
  load?: Parameters<typeof runCommandLine>[1],
): Promise<CliResult> {
  if (running) throw new Error('one command at a time: environment and output belong to the process');
  running = true;
  const before = { environment: process.env, directory: process.cwd(), exitCode: process.exitCode };
  const printed: Record<(typeof OUTPUTS)[number], Buffer[]> = { stdout: [], stderr: [] };
  const writes = OUTPUTS.map((name) => [name, Object.getOwnPropertyDescriptor(process[name], 'write')] as const);
  for (const name of OUTPUTS) {
    process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      printed[name].push(Buffer.from(chunk as string));
      const written = rest.at(-1);
      if (typeof written === 'function') process.nextTick(written);
      return true;
    };
  }
  const inherited = Object.entries(process.env).filter(([name]) => !OWN_VARIABLE.test(name));
  process.env = { ...Object.fromEntries(inherited), ...environment };
  process.exitCode = undefined;
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  try {
    process.chdir(directory ?? tmpdir());
    await runCommandLine(['node', 'holdfast', ...args], load);
    const [stdout, stderr] = OUTPUTS.map((name) => Buffer.concat(printed[name]).toString());
    return { code: exitCode(), stdout: stdout ?? '', stderr: stderr ?? '' };
  } finally {
    for (const [name, write] of writes) {
      Reflect.deleteProperty(process[name], 'write');
      if (write !== undefined) Object.defineProperty(process[name], 'write', write);
    }
    if (stdin !== undefined) Object.defineProperty(process, 'stdin', stdin);
    process.env = before.environment;
    process.exitCode = before.exitCode;
    process.chdir(before.directory);
    running = false;
  }
}
