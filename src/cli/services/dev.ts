import { once } from 'node:events';
import { unwatchFile, watchFile } from 'node:fs';
import { resolve } from 'node:path';
import { definedOf } from '../../context/policy/defined-of.ts';
import { DevOutput } from './dev-output.ts';
import { otherWorkers } from './other-workers.ts';
import { localCommand } from '../command.ts';
import type { CommandFlags } from '../command.ts';
import type { Configuration } from '../../config/configuration.ts';
import { untilSignalled } from '../interruption.ts';
import { DEFAULT_PORTS } from '../../local/choose-ports.ts';
import type { StackPorts } from '../../local/choose-ports.ts';
import type { LocalStack } from '../../local/stack.ts';
import type { ServiceName } from '../../local/supervise.ts';
import { count, option } from '../options.ts';

/** Environment variables that hold a key for a real model. */
const MODEL_KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'];

/** How often `holdfast.yaml` is looked at. */
const FILE_LOOK_MILLISECONDS = 1_000;

/** The first model key that is set, by the name of its variable. */
function modelKeyName(environment: NodeJS.ProcessEnv): string | null {
  return MODEL_KEYS.find((name) => (environment[name] ?? '') !== '') ?? null;
}

function servicesOf(options: DevOptions, environment: NodeJS.ProcessEnv): ServiceName[] {
  const simulator = options.simulator ?? modelKeyName(environment) === null;
  return [
    'postgres',
    'temporal',
    ...(simulator ? (['simulator'] as const) : []),
    ...(options.worker ? (['worker'] as const) : []),
    ...(options.server ? (['server'] as const) : []),
  ];
}

function portsOf(options: DevOptions): Partial<StackPorts> {
  return definedOf({
    postgres: options.postgresPort,
    temporal: options.temporalPort,
    temporalUi: options.uiPort,
    simulator: options.simulatorPort,
    server: options.serverPort,
  });
}

function isNamed({ directory }: DevOptions): boolean {
  return directory !== undefined || (process.env['HOLDFAST_DIRECTORY'] ?? '') !== '';
}

/** `holdfast.yaml`, and the files that it names as modules. */
type Files = Pick<Configuration, 'file' | 'modules'>;

/** What is wrong in the file is told here, and not by a worker that is started again and again. @throws ConfigurationError */
async function readFiles(): Promise<Files> {
  const [{ loadConfiguration }, { requireNone }, { problemsOfWorker }] = await Promise.all([
    import('../../config/load-configuration.ts'),
    import('../../config/configuration-source.ts'),
    import('../../config/check/check-for-worker.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  requireNone(problemsOfWorker(configuration));
  return configuration;
}

/** Starts the stack; null when the user gave up meanwhile. */
async function start(
  options: DevOptions,
  { file }: Files,
  output: DevOutput,
  signal: AbortSignal,
): Promise<LocalStack | null> {
  // Loaded here: these bring Temporal's client, and `holdfast --help` should not wait for it.
  const [{ startLocalStack }, { stateDirectory }, { namedServers }] = await Promise.all([
    import('../../local/stack.ts'),
    import('../../local/stack-file.ts'),
    import('../../local/find-servers.ts'),
  ]);
  const { environment } = namedServers(process.env, process.cwd());
  try {
    return await startLocalStack({
      directory: options.directory ?? stateDirectory(),
      // A state folder that was named says nothing of where the project is.
      ...(isNamed(options) && { workingDirectory: process.cwd() }),
      environment: { ...environment, ...(file !== null && { HOLDFAST_CONFIG: file }) },
      services: servicesOf(options, process.env),
      ports: portsOf(options),
      ...(options.workerCommand === undefined ? {} : { workerCommand: options.workerCommand.split(' ') }),
      signal,
      onProgress: (text) => output.progress(text),
      onEvent: (event) => output.event(event),
    });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/**
 * Starts worker and server again when what they read changes. A file with mistakes restarts nothing: they go on with what they have.
 * @returns ends the watch
 */
function watchFiles(stack: LocalStack, files: Files, output: DevOutput): () => void {
  let watched: readonly string[] = [];
  const unwatch = (): void => {
    for (const path of watched) unwatchFile(path);
  };
  const watch = ({ file, modules }: Files): void => {
    unwatch();
    // Where there is no file, one may be made.
    watched = [file ?? resolve('holdfast.yaml'), ...modules];
    for (const path of watched) {
      // Node also calls it when the file was only read, or is not there.
      watchFile(path, { interval: FILE_LOOK_MILLISECONDS }, ({ mtimeMs }, before) => {
        if (mtimeMs !== before.mtimeMs) void changed(path);
      });
    }
  };
  const changed = async (path: string): Promise<void> => {
    try {
      watch(await readFiles());
      output.fileChanged(path, null);
      await stack.restart(['worker', 'server']);
      output.otherWorkers(await otherWorkers(stack));
    } catch (error) {
      output.fileChanged(path, error);
    }
  };
  watch(files);
  return unwatch;
}

async function dev(options: DevOptions): Promise<void> {
  const output = new DevOutput(options.json === true);
  // A second Ctrl-C leaves at once; the services notice the closed pipe and stop on their own.
  await untilSignalled(async (signal) => {
    const files = await readFiles();
    const stack = await start(options, files, output, signal);
    if (stack !== null) {
      const directory = options.directory === undefined ? null : resolve(options.directory);
      const { server } = stack.current();
      const { loginLink } = await import('../../server/login-link.ts');
      const pages = server === null ? null : await loginLink(server.url);
      const { file } = files;
      // Before anybody reads that it runs: a change from then on counts.
      const unwatch = watchFiles(stack, files, output);
      output.ready(stack, { pages, modelKey: modelKeyName(process.env), worker: options.worker, directory, file });
      output.otherWorkers(options.worker ? await otherWorkers(stack) : null);
      if (!signal.aborted) await once(signal, 'abort');
      unwatch();
      output.stopping();
      await stack.stop();
    }
    output.stopped();
  });
}

const port = count(1, 65_535);
const free = (otherwise: number): string => `(default: ${otherwise} or the next free one, remembered)`;

const OPTIONS = [
  option('--postgres-port <port>', `port of Postgres ${free(DEFAULT_PORTS.postgres)}`, port),
  option('--temporal-port <port>', `port of Temporal ${free(DEFAULT_PORTS.temporal)}`, port),
  option('--ui-port <port>', `port of Temporal's UI ${free(DEFAULT_PORTS.temporalUi)}`, port),
  option('--simulator-port <port>', `port of the simulator ${free(DEFAULT_PORTS.simulator)}`, port),
  option('--server-port <port>', `port of the HTTP server ${free(DEFAULT_PORTS.server)}`, port),
  option('--simulator', 'run the simulator although a model key is set'),
  option('--no-simulator', 'do not run the simulator'),
  option('--no-worker', 'do not run a worker'),
  option('--no-server', 'do not run the HTTP server'),
  option('--directory <folder>', 'where data and addresses are kept (default: .holdfast here or above)'),
  option('--worker-command <arguments>', 'arguments of Node instead of the worker').hideHelp(),
] as const;

type DevOptions = CommandFlags<typeof OPTIONS>;

const devCommand = localCommand({
  description:
    'Runs Postgres, Temporal, a worker, the HTTP server and, without a model key, the simulator on this machine. Data stays in .holdfast/, so open turns go on at the next start. Servers that DATABASE_URL, TEMPORAL_ADDRESS, HOLDFAST_SIMULATOR_URL or holdfast.yaml name are used instead. With --json, one object per line: events, then the addresses.',
  examples: ['npx holdfast dev', 'npx holdfast dev --no-worker --postgres-port 5544'],
  options: OPTIONS,
  run: (_call, options) => dev(options),
});

export const commands = { dev: devCommand };
