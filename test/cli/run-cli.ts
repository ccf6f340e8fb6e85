import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { OWN_VARIABLE } from './cli-result.ts';
import type { CliOptions, CliResult } from './cli-result.ts';

export const EXECUTABLE = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

/** A command that runs as a process of its own, as a user starts it. */
export interface RunningCli {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<CliResult>;
}

export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const inherited = Object.entries(process.env).filter(([name]) => !OWN_VARIABLE.test(name));
  const child = spawn(process.execPath, [EXECUTABLE, ...args], {
    cwd: options.directory ?? tmpdir(),
    env: { ...Object.fromEntries(inherited), ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  child.stdin.end(options.input ?? '');
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
  });
  return { process: child, stdout: () => printed.stdout, stderr: () => printed.stderr, ended };
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}
