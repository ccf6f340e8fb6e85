import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { STATE_FOLDER, readStack } from '../../src/local/stack-file.ts';
import { isStackRunning, startLocalStack } from '../../src/local/stack.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import { makeDirectory } from '../../src/local/state-directory.ts';
import type { ServiceEvent } from '../../src/local/supervise.ts';
import { WORKSPACE, configurationText, usesSimulator } from './configuration.ts';
import { filesOf } from './job.ts';
import type { Job } from './job.ts';
import type { DemoOptions } from './options.ts';

const PREFIX = 'demo-';

/** Marks a folder that `--keep` leaves for later. */
const KEPT_MARK = 'kept';

/** Servers of the user's own are not for a demo that kills and deletes. */
const IGNORED_VARIABLES = /^(?:DATABASE_URL|TEMPORAL_.*|HOLDFAST_(?!TEMPORAL_CLI$|RUN$|COMPATIBLE_).*)$/u;

export function demoEnvironment(
  environment: NodeJS.ProcessEnv,
  { namedServers }: Pick<DemoOptions, 'namedServers'>,
): NodeJS.ProcessEnv {
  if (namedServers) return environment;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !IGNORED_VARIABLES.test(name)));
}

/** A folder of this demo's own, with its configuration and the files to read; folders that killed demos left are removed. */
export async function prepareDirectory(options: DemoOptions, job: Job): Promise<string> {
  const state = join(process.cwd(), STATE_FOLDER);
  await makeDirectory(state);
  await removeLeftovers(state);
  const directory = join(state, `${PREFIX}${process.pid}`);
  await removeDirectory(directory);
  for (const { path, bytes } of filesOf(job)) {
    const target = join(directory, WORKSPACE, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
  await writeFile(join(directory, 'holdfast.yaml'), configurationText(options, job));
  if (options.keep) await writeFile(join(directory, KEPT_MARK), '');
  return directory;
}

async function removeLeftovers(state: string): Promise<void> {
  const names = (await readdir(state)).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const directory = join(state, name);
    const owner = Number(name.slice(PREFIX.length));
    const isKept = (await readdir(directory)).includes(KEPT_MARK);
    if (!isKept && !isStackRunning(directory) && !isAlive(owner)) await removeDirectory(directory);
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    // No such process, or one of another user's, which is no demo of ours.
    return false;
  }
}

/** Removes a demo's folder, and Postgres's data where the stack had to put it elsewhere. */
export async function removeDirectory(directory: string): Promise<void> {
  const data = readStack(directory)?.postgres?.dataDirectory ?? null;
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  if (data !== null && !data.startsWith(directory))
    await rm(dirname(data), { recursive: true, force: true, maxRetries: 3 });
}

/** Postgres, Temporal and, when it is the model, the simulator. Workers are the demo's own, since it kills them. */
export async function startDemoStack(
  directory: string,
  options: DemoOptions,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: ServiceEvent) => void },
): Promise<LocalStack> {
  const isSimulated = usesSimulator(options);
  return startLocalStack({
    directory,
    // Not the defaults and their neighbours, for which a stack that starts at the same time would reach too.
    isAnyPortGood: true,
    services: isSimulated ? ['postgres', 'temporal', 'simulator'] : ['postgres', 'temporal'],
    environment: demoEnvironment(process.env, options),
    // What a crash of the machine would lose is thrown away at the end anyhow.
    durable: options.keep,
    signal,
    onEvent,
  });
}
