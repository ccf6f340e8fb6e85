import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startLocalStack } from '../../src/local/stack.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import { KEPT_MARK, makeOwnDirectory, withoutServers } from '../own-servers.ts';
import { WORKSPACE, configurationText, usesSimulator } from './configuration.ts';
import { filesOf } from './job.ts';
import type { Job } from './job.ts';
import type { DemoOptions } from './options.ts';

/** A folder of this demo's own, with its configuration and the files to read. */
export async function prepareDirectory(options: DemoOptions, job: Job): Promise<string> {
  const directory = await makeOwnDirectory('demo-');
  for (const { path, bytes } of filesOf(job)) {
    const target = join(directory, WORKSPACE, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
  await writeFile(join(directory, 'holdfast.yaml'), configurationText(options, job));
  if (options.keep) await writeFile(join(directory, KEPT_MARK), '');
  return directory;
}

/** Postgres, Temporal and, when it is the model, the simulator. Workers are the demo's own, since it kills them. */
export async function startDemoStack(
  directory: string,
  options: DemoOptions,
  signal: AbortSignal,
): Promise<LocalStack> {
  return startLocalStack({
    directory,
    // Not the defaults and their neighbours, for which a stack that starts at the same time would reach too.
    isAnyPortGood: true,
    services: usesSimulator(options) ? ['postgres', 'temporal', 'simulator'] : ['postgres', 'temporal'],
    environment: withoutServers(process.env),
    // What a crash of the machine would lose is thrown away at the end anyhow.
    durable: options.keep,
    signal,
  });
}
