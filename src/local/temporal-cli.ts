import { SetupFailure } from './setup/failure.mjs';
import { findTemporalCli, isExecutableFile } from './setup/temporal-cli.mjs';
import { bringTemporalCliToCache } from './setup/temporal-download.mjs';
import { StackError } from './stack-error.ts';

/**
 * Path of a Temporal CLI. In a clone set-up has brought one; an installed package has no set-up and brings it here.
 *
 * @throws StackError `temporal_missing` with the reasons and what to do.
 */
export async function provideTemporalCli(
  environment: NodeJS.ProcessEnv,
  onProgress: (line: string) => void = () => undefined,
): Promise<string> {
  const found = findTemporalCli(environment);
  if (found?.source === 'environment' && !isExecutableFile(found.path)) {
    throw new StackError(
      'temporal_missing',
      `HOLDFAST_TEMPORAL_CLI names ${found.path}, which is not a program that can be run.`,
      'Correct the path, or unset the variable to have the CLI downloaded.',
    );
  }
  if (found !== null) return found.path;
  try {
    return await bringTemporalCliToCache(environment, onProgress);
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    throw new StackError('temporal_missing', error.message, error.next, { cause: error });
  }
}
