import { endWhenPipeCloses, openOutput, printJson } from '../../src/cli/output.ts';
import { runProgram } from '../command-line.ts';
import { parseOptions } from './options.ts';
import { runDemo } from './run-demo.ts';

endWhenPipeCloses();
await runProgram(
  async (signal) => {
    const options = parseOptions(process.argv.slice(2));
    if (options === null) return 0;
    const output = openOutput({ plain: (process.env['NO_COLOR'] ?? '') !== '' });
    const result = await runDemo(options, output, signal);
    if (result !== null && options.json) output.json(result);
    if (result === null) output.remark('Interrupted; everything of the demo is stopped and removed.');
    if (result === null) return null;
    return result.ok ? 0 : 1;
  },
  (message) => {
    if (process.argv.includes('--json')) printJson({ ok: false, problems: [message] });
  },
);
