import type { Logger } from 'pino';
import { installRuntimeLogger } from '../../src/temporal/logger.ts';

let installed = false;

/** Temporal's runtime can be installed once in a process, and a test file may start workers of several kinds. */
export function installTestRuntime(logger: Logger): void {
  if (!installed) installRuntimeLogger(logger);
  installed = true;
}
