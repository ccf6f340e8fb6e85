import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localCommand } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { argument, count, option } from '../options.ts';

const logs = localCommand({
  description: 'Prints the last lines of the logs that the services of `holdfast dev` keep in .holdfast/logs.',
  examples: ['npx holdfast logs', 'npx holdfast logs worker --lines 200'],
  arguments: [argument('[service]', 'postgres, temporal, simulator, worker or server; left out, all')],
  options: [option('-n, --lines <number>', 'lines of each', count(1, 100_000), 40)],
  async run({ output }, flags, service) {
    const { stateDirectory } = await import('../../local/stack-file.ts');
    const directory = join(stateDirectory(), 'logs');
    const files = await readdir(directory).catch(() => []);
    const names = files.filter((file) => file.endsWith('.log')).map((file) => file.slice(0, -'.log'.length));
    const wanted = service === undefined ? names : names.filter((name) => name === service);
    if (wanted.length === 0) {
      throw new UsageError(
        'usage',
        `${directory} holds no log${service === undefined ? '' : ` of "${service}"`}.`,
        names.length === 0 ? 'Start the services: npx holdfast dev' : `There are: ${names.join(', ')}.`,
      );
    }
    for (const name of wanted) {
      const text = await readFile(join(directory, `${name}.log`), 'utf8');
      const lines = text.trimEnd().split('\n').slice(-flags.lines);
      if (flags.json === true) output.json({ service: name, lines });
      else output.lines([...(wanted.length > 1 ? [output.style.bold(`── ${name}`)] : []), ...lines]);
    }
  },
});

export const commands = { logs };
