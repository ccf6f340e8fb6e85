import { Command, InvalidArgumentError, Option } from 'commander';
import { ServiceOutput } from './dev-output.ts';
import type { StackPorts } from '../local/choose-ports.ts';
import type { LocalStack } from '../local/stack.ts';
import type { ServiceName } from '../local/supervise.ts';

interface DevOptions {
  readonly postgresPort?: number;
  readonly temporalPort?: number;
  readonly uiPort?: number;
  readonly simulatorPort?: number;
  readonly simulator?: boolean;
  readonly worker: boolean;
  readonly json?: boolean;
  readonly directory?: string;
  readonly workerCommand?: string;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('A port is a whole number from 1 to 65535.');
  return port;
}

/** Environment variables that hold a key for a real model. */
const MODEL_KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'];

/** The first model key that is set, by the name of its variable. */
export function modelKeyName(environment: NodeJS.ProcessEnv): string | null {
  return MODEL_KEYS.find((name) => (environment[name] ?? '') !== '') ?? null;
}

function servicesOf(options: DevOptions, environment: NodeJS.ProcessEnv): ServiceName[] {
  const simulator = options.simulator ?? modelKeyName(environment) === null;
  return [
    'postgres',
    'temporal',
    ...(simulator ? (['simulator'] as const) : []),
    ...(options.worker ? (['worker'] as const) : []),
  ];
}

function portsOf(options: DevOptions): Partial<StackPorts> {
  return {
    ...(options.postgresPort === undefined ? {} : { postgres: options.postgresPort }),
    ...(options.temporalPort === undefined ? {} : { temporal: options.temporalPort }),
    ...(options.uiPort === undefined ? {} : { temporalUi: options.uiPort }),
    ...(options.simulatorPort === undefined ? {} : { simulator: options.simulatorPort }),
  };
}

/** Exit code of a program that ended because of SIGINT, as shells have it. */
const INTERRUPTED = 130;

/**
 * Settles when the user asks to stop: Ctrl-C, SIGTERM, or the terminal was closed. A second Ctrl-C leaves at once; the services
 * notice the closed pipe and stop on their own.
 */
function stopRequest(): { readonly signal: AbortSignal; readonly asked: Promise<void> } {
  const controller = new AbortController();
  const asked = new Promise<void>((resolve) => {
    const stop = (): void => {
      if (controller.signal.aborted) process.exit(INTERRUPTED);
      controller.abort();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  });
  return { signal: controller.signal, asked };
}

async function start(options: DevOptions, output: ServiceOutput, signal: AbortSignal): Promise<LocalStack | null> {
  // Loaded here: these bring Temporal's client, and `holdfast --help` should not wait for it.
  const [{ startLocalStack }, { stateDirectory }] = await Promise.all([
    import('../local/stack.ts'),
    import('../local/stack-file.ts'),
  ]);
  try {
    return await startLocalStack({
      directory: options.directory ?? stateDirectory(),
      services: servicesOf(options, process.env),
      ports: portsOf(options),
      ...(options.workerCommand === undefined ? {} : { workerCommand: options.workerCommand.split(' ') }),
      signal,
      onEvent: (event) => output.event(event),
    });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function dev(options: DevOptions): Promise<void> {
  const output = new ServiceOutput(options.json === true);
  const { signal, asked } = stopRequest();
  try {
    const stack = await start(options, output, signal);
    if (stack !== null) {
      output.ready(stack, { modelKey: modelKeyName(process.env), worker: options.worker });
      await asked;
      output.stopping();
      await stack.stop();
    }
    output.stopped();
  } catch (error) {
    output.failure(error);
    process.exitCode = 1;
  }
}

/** `holdfast dev`: the whole local stack in one terminal. */
export function devCommand(): Command {
  return new Command('dev')
    .description('Run Postgres, Temporal, a worker and, without a model key, the simulator on this machine')
    .option(
      '--postgres-port <port>',
      'use this port; default: 7432 or the next free one, then the same again',
      parsePort,
    )
    .option('--temporal-port <port>', 'default: 7233 or the next free one', parsePort)
    .option('--ui-port <port>', 'port of the Temporal UI; default: 8233 or the next free one', parsePort)
    .option('--simulator-port <port>', 'default: 8787 or the next free one', parsePort)
    .option('--simulator', 'run the simulator although a model key is set')
    .option('--no-simulator', 'do not run the simulator')
    .option('--no-worker', 'do not run a worker')
    .option('--directory <folder>', 'where data and addresses are kept; default: .holdfast')
    .option('--json', 'one JSON object per line: events, then the addresses')
    .addOption(new Option('--worker-command <arguments>', 'arguments of Node instead of the worker').hideHelp())
    .addHelpText(
      'after',
      `
Data stays in .holdfast/, so open turns go on at the next start. DATABASE_URL, TEMPORAL_ADDRESS and HOLDFAST_SIMULATOR_URL
name servers of your own, which are then used instead.

Example:
  npx holdfast dev
  npx holdfast start "Read the README and say what this project does"     (in another terminal)

Exit codes: 0 stopped by Ctrl-C, 1 could not start (the message says why and what to do)`,
    )
    .action(async (options: DevOptions) => dev(options));
}
