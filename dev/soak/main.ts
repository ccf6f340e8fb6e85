import { remark, runProgram } from '../command-line.ts';
import { parseOptions } from './options.ts';
import { reportLines } from './report.ts';
import { runSoak } from './run-soak.ts';

await runProgram(async (signal) => {
  const options = parseOptions(process.argv.slice(2));
  if (options === null) return 0;
  const result = await runSoak(options, { onProgress: remark }, signal);
  console.log(reportLines(result, options.kills).join('\n'));
  if (options.json) console.log(JSON.stringify(result));
  if (signal.aborted) return null;
  return result.ok ? 0 : 1;
});
