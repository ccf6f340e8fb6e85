import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '../../src/cli/usage-error.ts';
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
  remark: (text: string) => void,
): Promise<number> {
  const { values, positionals } = parseFlags(commandArguments);
  const figures: Figure[] = [];
  for (const file of positionals) {
    const { ratios, skipped } = growthErrors(await readRecordedCalls(file));
    const name = basename(file);
    if (ratios.length === 0) {
      remark(`${name}: fewer than four calls with usage`);
      continue;
    }
    remark(
      `${name}: ${ratios.length} calls judged, ${skipped} without growth; estimated / reported ${median(ratios).toFixed(2)}`,
    );
    const errors = ratios.map((ratio) => Math.abs(ratio - 1) * 100);
    figures.push({ benchmark: 'estimates', name, unit: '%', target: { atMost: TARGET }, ...summarize(errors) });
  }
  console.log(formatTable(figures));
  const ok = allTargetsMet(figures);
  if (values.json) console.log(JSON.stringify({ figures, ok }));
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
