import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { errorCode } from '../../local/error-code.ts';
import { count } from '../count-option.ts';
import { holdfastCommand, withJson } from '../holdfast-command.ts';
import type { JsonOption } from '../holdfast-command.ts';
import { untilSignalled } from '../interruption.ts';
import { openOutput } from '../output.ts';
import { UsageError } from '../usage-error.ts';

interface SimulatorFlags extends JsonOption {
  readonly host: string;
  readonly port: number;
  readonly latency: number;
  readonly tokensPerSecond: number;
  readonly seed: number;
}

/** `holdfast simulator`: a model server without a model. */
export function simulatorCommand(): Command {
  return withJson(
    holdfastCommand('simulator', {
      description:
        "Runs a server that stands in for a model: it speaks the protocols of Anthropic and OpenAI, counts tokens, enforces the window of sim-<N>k and streams. The vendors' SDKs and Holdfast's workers (HOLDFAST_SIMULATOR_URL) use it unchanged.",
      examples: ['npx holdfast simulator', 'npx holdfast simulator --latency 300 --tokens-per-second 80'],
    }),
  )
    .option('--port <port>', 'port; 0 for a free one', count(0, 65_535), 8787)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--latency <milliseconds>', 'time until the first token of an answer', count(0), 0)
    .option('--tokens-per-second <number>', 'speed of an answer; 0 is as fast as possible', positive, 0)
    .option('--seed <number>', 'decides wording and ids', count(0), 1)
    .action(simulate);
}

async function simulate(flags: SimulatorFlags): Promise<void> {
  const { startSimulator } = await import('@holdfast/simulator');
  const output = openOutput();
  const { host, port, latency, tokensPerSecond, seed } = flags;
  const simulator = await startSimulator({ host, port, latency, tokensPerSecond, seed }).catch((error: unknown) => {
    throw addressError(error, host, port);
  });
  if (flags.json === true) output.json({ url: simulator.url, port: simulator.port });
  else {
    output.lines([
      `Simulator at ${simulator.url}. Ctrl-C stops it.`,
      `  a worker uses it:      HOLDFAST_SIMULATOR_URL=${simulator.url} npx holdfast worker`,
      `  Anthropic's SDK:       baseURL ${simulator.url}`,
      `  OpenAI's SDK:          baseURL ${simulator.url}/v1`,
    ]);
  }
  await untilSignalled(async (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
  await simulator.close();
}

const ANY_ADDRESS = 'Leave --host out, or use 0.0.0.0 for all of them.';

function addressError(error: unknown, host: string, port: number): unknown {
  const causes: Readonly<Record<string, readonly [string, string]>> = {
    EADDRINUSE: [`Port ${port} of ${host} is taken.`, 'Choose another with --port, or --port 0 for a free one.'],
    EACCES: [`This user may not listen on port ${port}.`, 'Choose a port above 1023 with --port.'],
    EADDRNOTAVAIL: [`${host} is no address of this machine.`, ANY_ADDRESS],
    ENOTFOUND: [`${host} is no address of this machine.`, ANY_ADDRESS],
  };
  const cause = causes[errorCode(error) ?? ''];
  return cause === undefined ? error : new UsageError('usage', ...cause);
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It takes a number of 0 or more.');
}
