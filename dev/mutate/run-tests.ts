import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { processesOfRun } from '../../test/support/leaked-processes.ts';
import type { ProjectCopy } from './project-copy.ts';

export interface TestFile {
  readonly file: string;
  readonly milliseconds: number;
  /** The first failure: its test and what it said. */
  readonly failure: string | undefined;
}

export interface TestRun {
  readonly ended: 'passed' | 'failed' | 'timeout';
  readonly files: readonly TestFile[];
  /** The end of what vitest printed, for a failure that no test tells. */
  readonly output: string;
}

export interface TestRunOptions {
  /** In the order of their start. Default: all, in the project's own order. */
  readonly files?: readonly string[];
  readonly workers?: string | undefined;
  readonly stopAtFailure?: boolean;
  /** Default: none. */
  readonly timeoutMilliseconds?: number;
}

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

/** Runs test files of a copy. Whatever they started has ended when this returns. */
export async function runTests(copy: ProjectCopy, options: TestRunOptions, signal: AbortSignal): Promise<TestRun> {
  const folder = mkdtempSync(join(copy.temporary, 'r'));
  // Postgres refuses to run as root, and its user must get through.
  chmodSync(folder, 0o711);
  const [order, report] = [join(folder, 'order.json'), join(folder, 'report.json')];
  writeFileSync(order, JSON.stringify(options.files ?? []));
  const vitest = [
    join(copy.root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config=dev/mutate/vitest.config.ts',
    '--reporter=json',
    `--outputFile=${report}`,
    ...(options.stopAtFailure === true ? ['--bail=1'] : []),
    ...(options.workers === undefined ? [] : [`--maxWorkers=${options.workers}`]),
    ...(options.files ?? []),
  ];
  const environment = { ...process.env, MUTATE_ORDER: order, TMPDIR: folder };
  const { ended, output } = await runProgram(vitest, copy.root, environment, options.timeoutMilliseconds, signal);
  for (const { processId } of await processesOfRun(folder)) kill(processId);
  const files = existsSync(report) ? readReport(readFileSync(report, 'utf8'), copy.root) : [];
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return { ended, files, output };
}

async function runProgram(
  program: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMilliseconds: number | undefined,
  signal: AbortSignal,
): Promise<Pick<TestRun, 'ended' | 'output'>> {
  // A group of its own, which can be ended as a whole.
  const child = spawn(process.execPath, program, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-4000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let isLate = false;
  const killGroup = (): void => kill(-(child.pid ?? 0));
  const timer =
    timeoutMilliseconds === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true;
          killGroup();
        }, timeoutMilliseconds);
  signal.addEventListener('abort', killGroup);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  clearTimeout(timer);
  signal.removeEventListener('abort', killGroup);
  signal.throwIfAborted();
  return { ended: isLate ? 'timeout' : code === 0 ? 'passed' : 'failed', output };
}

function kill(processId: number): void {
  try {
    process.kill(processId, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

function readReport(text: string, root: string): TestFile[] {
  const { testResults } = reportSchema.parse(JSON.parse(text));
  return testResults.map(({ name, startTime, endTime, status, message, assertionResults }) => {
    const failed = assertionResults.find((each) => each.status === 'failed');
    const said = failed?.failureMessages?.[0] ?? message;
    const failure = `${failed?.fullName ?? 'the file'}: ${said.split('\n')[0]}`;
    return {
      file: relative(root, name),
      milliseconds: endTime - startTime,
      failure: status === 'failed' ? failure : undefined,
    };
  });
}
