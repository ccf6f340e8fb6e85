import { describeError, errorLines } from '../../src/cli/describe-error.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { endOnSignals, untilSignalled } from '../../src/cli/interruption.ts';
import { parseOptions } from './options.ts';
import { reportLines } from './report.ts';
import { runSoak } from './run-soak.ts';

/** Progress is no result: it goes where a pipe does not read. */
const remark = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  endOnSignals();
  try {
    const options = parseOptions(process.argv.slice(2));
    if (options === null) return;
    const { result, interrupted } = await untilSignalled((signal) => runSoak(options, { onProgress: remark }, signal));
    console.log(reportLines(result, options.kills).join('\n'));
    if (options.json) console.log(JSON.stringify(result));
    process.exitCode = interrupted ? EXIT_CODES.interrupted.code : result.ok ? 0 : 1;
  } catch (error) {
    const described = describeError(error);
    process.exitCode = described.exit === 'usage' ? EXIT_CODES.usage.code : 1;
    process.stderr.write(`${errorLines(described).join('\n')}\n`);
    if (process.env['HOLDFAST_DEBUG'] === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  }
}

await main();
