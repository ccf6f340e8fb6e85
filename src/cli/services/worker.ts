import { localCommand } from '../command.ts';
import { environmentWith } from '../connect.ts';
import { untilSignalled } from '../interruption.ts';
import { startTelemetry } from './telemetry.ts';
import { count, option } from '../options.ts';

const worker = localCommand({
  description:
    'Serves turns with the agents of holdfast.yaml, here or in a folder above, and with the tools and agents of its `modules`. Run as many as you like: they share the calls of all turns, and when one dies, another takes its calls over. On SIGTERM and Ctrl-C running calls may finish; another worker takes the rest. Logs are lines of JSON on standard error (HOLDFAST_LOG_LEVEL).',
  examples: [
    'npx holdfast worker',
    'DATABASE_URL=postgres://… TEMPORAL_ADDRESS=temporal:7233 npx holdfast worker --concurrency 50',
  ],
  servers: true,
  options: [
    option('--concurrency <number>', 'model calls, summaries and tools at once (default: 100)', count(1, 10_000)),
    option('--grace <seconds>', 'time that running calls get to finish at shutdown (default: 30)', count(0, 86_400)),
  ],
  async run(_call, flags) {
    const [
      { createWorker, DEFAULT_SHUTDOWN_GRACE_MILLISECONDS },
      { endWithin },
      { loadConfiguration },
      { loadModules },
    ] = await Promise.all([
      import('../../worker/create-worker.ts'),
      import('../../worker/end-worker.ts'),
      import('../../config/load-configuration.ts'),
      import('../../config/load-modules.ts'),
    ]);
    const environment = environmentWith(flags);
    const { modules } = loadConfiguration({ directory: process.cwd(), environment });
    const grace = flags.grace === undefined ? DEFAULT_SHUTDOWN_GRACE_MILLISECONDS : flags.grace * 1_000;
    const endTelemetry = await startTelemetry('holdfast-worker');
    const running = await createWorker({
      environment,
      ...(await loadModules(modules)),
      ...(flags.concurrency !== undefined && { concurrentWork: flags.concurrency }),
      shutdownGraceMilliseconds: grace,
      shutdownSignals: [], // Ctrl-C reaches npx and this process, and npx may send it on.
    });
    await untilSignalled(async (signal) => {
      signal.addEventListener('abort', () => endWithin(running, grace));
      await running.ended;
    });
    await endTelemetry();
  },
});

export const commands = { worker };
