import { describeError, errorLines } from '../../src/cli/describe-error.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { endOnSignals, untilSignalled } from '../../src/cli/interruption.ts';
import { endWhenPipeCloses, openOutput, printJson, printRemark } from '../../src/cli/output.ts';
import { parseOptions } from './options.ts';
import { runDemo } from './run-demo.ts';

/** Runs the demo and sets the exit code. */
async function main(): Promise<void> {
  endWhenPipeCloses();
  endOnSignals();
  const json = process.argv.includes('--json');
  try {
    const options = parseOptions(process.argv.slice(2));
    if (options === null) return;
    const output = openOutput({ plain: (process.env['NO_COLOR'] ?? '') !== '' });
    const { result, interrupted } = await untilSignalled((signal) => runDemo(options, output, signal));
    if (result !== null && options.json) output.json(result);
    if (result === null) output.remark('Interrupted; everything of the demo is stopped and removed.');
    process.exitCode = result === null ? EXIT_CODES.interrupted.code : result.ok ? 0 : 1;
    if (interrupted && result !== null) output.remark('Stopped.');
  } catch (error) {
    const described = describeError(error);
    process.exitCode = described.exit === 'usage' ? EXIT_CODES.usage.code : 1;
    printRemark(errorLines(described).join('\n'));
    if (json) printJson({ ok: false, problems: [described.message] });
    if (process.env['HOLDFAST_DEBUG'] === '1' && error instanceof Error) printRemark(error.stack ?? error.message);
  }
}

await main();
