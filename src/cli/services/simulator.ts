import { localCommand } from '../command.ts';
import { untilAborted, untilSignalled } from '../interruption.ts';
import { listenError } from './listen-error.ts';
import { amount, count, option } from '../options.ts';

const simulator = localCommand({
  description:
    "Runs a server in place of a model: it speaks the protocols of Anthropic and OpenAI, counts tokens, enforces the window of sim-<N>k and streams. The vendors' SDKs and Holdfast's workers (HOLDFAST_SIMULATOR_URL) use it unchanged.",
  examples: ['npx holdfast simulator', 'npx holdfast simulator --latency 300 --tokens-per-second 80'],
  options: [
    option('--port <port>', 'port; 0 for a free one', count(0, 65_535), 8787),
    option('--host <address>', 'address to listen on', undefined, '127.0.0.1'),
    option('--latency <milliseconds>', 'time until the first token of an answer', count(0), 0),
    option('--tokens-per-second <number>', 'speed of an answer; 0 is as fast as possible', amount, 0),
    option('--seed <number>', 'decides wording and ids', count(0), 1),
  ],
  async run({ output }, flags) {
    const { startSimulator } = await import('@holdfast/simulator');
    const { host, port, latency, tokensPerSecond, seed } = flags;
    const started = await startSimulator({ host, port, latency, tokensPerSecond, seed }).catch((error: unknown) => {
      throw listenError(error, host, port);
    });
    if (flags.json === true) output.json({ url: started.url, port: started.port });
    else {
      output.lines([
        `Simulator at ${started.url}. Ctrl-C stops it.`,
        `  a worker uses it:      HOLDFAST_SIMULATOR_URL=${started.url} npx holdfast worker`,
        `  Anthropic's SDK:       baseURL ${started.url}`,
        `  OpenAI's SDK:          baseURL ${started.url}/v1`,
      ]);
    }
    await untilSignalled(untilAborted);
    await started.close();
  },
});

export const commands = { simulator };
