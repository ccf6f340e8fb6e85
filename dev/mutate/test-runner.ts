import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { BaseSequencer, createVitest } from 'vitest/node';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import type { ProjectCopy } from './project-copy.ts';

/** For one mutation. Most are noticed within a second of it. */
const LIMIT_MILLISECONDS = 120_000;
/** A test that takes as long waits for what will not come: the longest take half of it beside other work. */
const STUCK_MILLISECONDS = 60_000;

export interface TestRun {
  readonly failure: { readonly file: string; readonly what: string } | null;
  /** The time was over, and no test had ended for long: as good as failed. */
  readonly isStuck: boolean;
  /** Test files that ended. */
  readonly ended: number;
}

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

/** One vitest for many runs: its servers start once, and modules that no mutation is in are compiled once. */
export class TestRunner {
  private lastResult = 0;
  private changedBefore = '';
  private vitest: Vitest;
  private readonly copy: ProjectCopy;
  private readonly watch: Reporter;

  private constructor(vitest: Vitest, copy: ProjectCopy, watch: Reporter) {
    this.vitest = vitest;
    this.copy = copy;
    this.watch = watch;
  }

  static async start(copy: ProjectCopy): Promise<TestRunner> {
    // It would win over the number of workers below, and the order of the files would be lost.
    delete process.env['VITEST_MAX_WORKERS'];
    const watch: Reporter = { onTestCaseResult: () => void (runner.lastResult = Date.now()) };
    const runner = new TestRunner(await openVitest(copy, watch), copy, watch);
    return runner;
  }

  /** Runs test files one after another until a test fails. */
  async run(tests: readonly string[], changed: string): Promise<TestRun> {
    // The file of the mutation before is as it was, but vitest still has it compiled as it was changed.
    for (const file of [this.changedBefore, changed]) this.vitest.invalidateFile(join(this.copy.root, file));
    this.changedBefore = changed;
    const found = await this.vitest.globTestSpecifications([...tests]);
    const specifications = tests.flatMap((test) =>
      found.filter(({ moduleId }) => moduleId === join(this.copy.root, test)),
    );
    // Results of runs before would count as those of this one where it ends before them.
    this.vitest.state.filesMap.clear();
    this.lastResult = Date.now();
    let isLate = false;
    let isStuck = false;
    const timer = setTimeout(() => {
      isLate = true;
      isStuck = Date.now() - this.lastResult > STUCK_MILLISECONDS;
      // Without the cancel another worker would go on with the next file.
      void this.vitest.cancelCurrentRun('keyboard-input');
      killWorkers();
    }, LIMIT_MILLISECONDS);
    const { testModules, unhandledErrors } = await this.vitest.runTestSpecifications(specifications, false);
    clearTimeout(timer);
    // A vitest whose worker was killed starts no other.
    if (isLate) {
      await this.vitest.close();
      this.vitest = await openVitest(this.copy, this.watch);
    }
    const failed = testModules.flatMap((module) => firstFailure(module) ?? []);
    const unhandled = unhandledErrors[0];
    const failure = failed[0] ?? (unhandled === undefined ? null : { file: tests[0] ?? '', what: describe(unhandled) });
    const ended = testModules.filter((module) => module.state() === 'passed').length;
    return { failure: isLate ? null : failure, isStuck, ended };
  }

  async close(): Promise<void> {
    await this.vitest.close();
  }
}

function openVitest({ root, temporary }: ProjectCopy, watch: Reporter): Promise<Vitest> {
  // The one before left its own folder here.
  process.env['TMPDIR'] = temporary;
  // Unlike an option, this holds for a project that has a number of its own too.
  process.env['VITEST_MAX_WORKERS'] = '1';
  return createVitest('test', {
    root,
    watch: false,
    bail: 1,
    testTimeout: STUCK_MILLISECONDS,
    sequence: { sequencer: InOrder },
    reporters: [watch],
  });
}

function describe(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return String(message).split('\n')[0] ?? '';
}

function firstFailure(module: TestModule): TestRun['failure'] {
  if (module.state() !== 'failed') return null;
  const test = [...module.children.allTests('failed')][0];
  const error = test?.result().errors?.[0] ?? module.errors()[0];
  return { file: module.relativeModuleId, what: `${test?.fullName ?? 'the file'}: ${describe(error ?? '')}` };
}

/** Workers that compute without end hear nothing else. */
function killWorkers(): void {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,command='], { encoding: 'utf8' }).split('\n');
  for (const line of lines) {
    const [processId, parent, ...command] = line.trim().split(/\s+/u);
    const isWorker = Number(parent) === process.pid && /vitest[\\/].*workers/u.test(command.join(' '));
    if (isWorker) process.kill(Number(processId), 'SIGKILL');
  }
}
