import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';

export const EXECUTABLE = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

export interface CliOptions {
  /** Added to an environment without any of Holdfast's variables, except the one that names the compiled program. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: a folder without a stack and a configuration. */
  readonly directory?: string;
  /** Standard input. Default: none. */
  readonly input?: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs as a process of its own, as a user starts it. */
export interface RunningCli {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<CliResult>;
}

/** Variables of Holdfast's own, which the tests' environment does not hand down; `HOLDFAST_RUN` names the compiled program. */
export const OWN_VARIABLE = /^(?:HOLDFAST_(?!RUN$)|TEMPORAL_|DATABASE_URL$|ANTHROPIC_|OPENAI_|NO_COLOR$|FORCE_COLOR$)/u;

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

/** The one JSON object that a command printed, checked by a zod schema. */
export function parseOutput<Schema extends z.ZodType>(result: CliResult, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(result.stdout));
}
