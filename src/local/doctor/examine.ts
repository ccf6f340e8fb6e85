import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readStack, resolveConnections } from '../stack-file.ts';
import type { Stack } from '../stack-file.ts';
import { isStackRunning } from '../stack.ts';
import { checkDisk, checkNode, checkPackages, checkTemporalCli, checkWritable } from './check-installation.ts';
import type { ResolvedProviders } from '../../config/providers.ts';
import { checkModelKeys, providersOfEnvironment } from './check-model-key.ts';
import { checkPorts, checkPostgres, checkTemporal } from './check-servers.ts';
import { CHECK_NAMES, broken } from './finding.ts';
import type { CheckName, Finding } from './finding.ts';

export interface ExamineOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** State folder of the local stack. */
  readonly directory: string;
  /** Whose keys are tried. Default: those of the environment. */
  readonly providers?: ResolvedProviders;
  /** Only these checks. Default: all. */
  readonly only?: readonly CheckName[];
}

function given(environment: NodeJS.ProcessEnv, name: string): string | null {
  return environment[name] || null;
}

/** A stack file is of use while its stack runs; the servers of a stopped one are tried out instead. */
function runningStack(directory: string, stack: Stack | null): Stack | null {
  return isStackRunning(directory) ? stack : null;
}

function readStackOrFinding(directory: string): { stack: Stack | null; findings: Finding[] } {
  try {
    return { stack: readStack(directory), findings: [] };
  } catch (error) {
    return {
      stack: null,
      findings: [
        broken('stack file', error instanceof Error ? error.message : String(error), `delete ${directory}/stack.json`),
      ],
    };
  }
}

/**
 * The checks, in the order in which a person would fix what they find. Those that are not asked for are not run, so a
 * healthcheck of two servers neither writes to the disk nor asks a provider.
 */
export async function examine({ environment, directory, providers, only }: ExamineOptions): Promise<Finding[]> {
  const { stack, findings: stackFindings } = readStackOrFinding(directory);
  const running = runningStack(directory, stack);
  const databaseUrl =
    given(environment, 'DATABASE_URL') ??
    (running?.postgres ? resolveConnections(environment, running).databaseUrl : null);
  const temporalAddress = given(environment, 'TEMPORAL_ADDRESS') ?? running?.temporal?.address ?? null;
  const namespace = given(environment, 'TEMPORAL_NAMESPACE') ?? running?.temporal?.namespace ?? 'default';
  const servers = { environment, directory, stack };
  const home = dirname(directory);
  const checks: Readonly<Record<CheckName, () => Promise<readonly Finding[]>>> = {
    node: async () => [checkNode()],
    packages: async () => [checkPackages()],
    'temporal-cli': async () => [await checkTemporalCli(environment)],
    workspace: async () => [await checkWritable(home)],
    // The state folder may be a disk of its own.
    disk: async () => [await checkDisk(existsSync(directory) ? directory : home)],
    ports: async () => [await checkPorts(servers), ...stackFindings],
    postgres: () => checkPostgres(servers, databaseUrl),
    temporal: () =>
      checkTemporal(servers, temporalAddress === null ? null : { temporalAddress, temporalNamespace: namespace }),
    'model-key': () => checkModelKeys(providers ?? providersOfEnvironment(environment)),
  };
  const chosen = CHECK_NAMES.filter((name) => only === undefined || only.includes(name));
  return (await Promise.all(chosen.map((name) => checks[name]()))).flat();
}
