import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '../../../src/cli/usage-error.ts';
import { allTargetsMet } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { formatTable } from '../report.ts';
import { median, summarize } from '../statistics.ts';
import { growthErrors } from './growth-errors.ts';
import { readRecordedCalls } from './recorded-sessions.ts';

/** Median error of the estimate of what was added between two calls, in percent. */
const TARGET = 15;

const USAGE = 'npm run bench -- estimates [--check] [--json] <file…>';

/**
 * How far the calibrated estimate is from the usage that recorded sessions report.
 * @returns the exit code: 1 when `--check` was given and a file misses the target
 * @throws UsageError
 */
export async function estimatesBench(
  commandArguments: readonly string[],
  { print, remark }: { readonly print: (text: string) => void; readonly remark: (text: string) => void },
): Promise<number> {
  const { values, positionals } = parseFlags(commandArguments);
  const figures: Figure[] = [];
  for (const file of positionals) {
    const name = basename(file);
    const calls = await readRecordedCalls(file);
    if (calls === null) {
      remark(`${name}: passed over, it does not record the tokens of its requests`);
      continue;
    }
    const { ratios, skipped } = growthErrors(calls);
    if (ratios.length === 0) {
      remark(`${name}: passed over, three calls to learn from and one to judge are not in it`);
      continue;
    }
    remark(
      `${name}: ${ratios.length} calls judged, ${skipped} without growth; estimated / reported ${median(ratios).toFixed(2)}`,
    );
    const errors = ratios.map((ratio) => Math.abs(ratio - 1) * 100);
    figures.push({ benchmark: 'estimates', name, unit: '%', target: { atMost: TARGET }, ...summarize(errors) });
  }
  if (figures.length === 0) {
    throw new UsageError(
      'usage',
      'none of these files can be judged',
      'give sessions that record the tokens of requests',
    );
  }
  print(formatTable(figures));
  const ok = allTargetsMet(figures);
  if (values.json) print(JSON.stringify({ figures, ok }));
  return values.check && !ok ? 1 : 0;
}

function parseFlags(commandArguments: readonly string[]) {
  try {
    const parsed = parseArgs({
      args: [...commandArguments],
      allowPositionals: true,
      options: { check: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
    });
    if (parsed.positionals.length > 0) return parsed;
  } catch (error) {
    throw new UsageError('usage', error instanceof Error ? error.message : String(error), USAGE);
  }
  throw new UsageError('usage', 'estimates need at least one recorded session', USAGE);
}
