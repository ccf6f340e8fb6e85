import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node';

/** Names the file in which `scripts/run.mjs` finds the counts. */
export const COUNTS_VARIABLE = 'HOLDFAST_TEST_COUNTS';

/** The number of leaked processes has a file of its own: it is known only when everything else was counted. */
export function leakedCountPath(countsPath: string): string {
  return `${countsPath}.leaked`;
}

export interface Counts {
  passed: number;
  failed: number;
}

/** What the counts need of a test: its state, and whether the user's own `-t` left it out. */
export interface CountedTest {
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  readonly excluded: boolean;
}

export interface CountedFile {
  readonly tests: readonly CountedTest[];
  /** Failures of the file itself: it could not be imported, or a hook around its tests failed. */
  readonly errors: number;
}

/** Whatever did not pass has failed, skipped and unfinished tests too, unless the user left it out. */
export function countTests(files: readonly CountedFile[], unhandledErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: unhandledErrors };
  for (const file of files) {
    counts.failed += file.errors;
    for (const test of file.tests) {
      if (test.state === 'passed') counts.passed += 1;
      else if (!(test.state === 'skipped' && test.excluded)) counts.failed += 1;
    }
  }
  return counts;
}

/** Hands the counts to `scripts/run.mjs`, which prints the plain line when everything is torn down. */
export default class PlainLineReporter implements Reporter {
  private pattern: RegExp | undefined;

  onInit(vitest: Vitest): void {
    this.pattern = vitest.config.testNamePattern;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const path = process.env[COUNTS_VARIABLE];
    if (path === undefined) return;
    const files = modules.map((module): CountedFile => {
      const suites = [...module.children.allSuites()];
      const errors = [module, ...suites].reduce((sum, owner) => sum + owner.errors().length, 0);
      return { tests: [...module.children.allTests()].map((test) => this.counted(test)), errors };
    });
    writeFileSync(path, JSON.stringify(countTests(files, unhandledErrors.length)));
  }

  private counted(test: TestCase): CountedTest {
    const excluded = this.pattern !== undefined && !this.pattern.test(test.fullName.replaceAll(' > ', ' '));
    return { state: test.result().state, excluded };
  }
}
