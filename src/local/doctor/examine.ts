import { dirname } from 'node:path';
import { readStack, resolveConnections } from '../stack-file.ts';
import type { Stack } from '../stack-file.ts';
import { isStackRunning } from '../stack.ts';
import { checkDisk, checkNode, checkPackages, checkTemporalCli, checkWritable } from './check-installation.ts';
import { checkModelKeys } from './check-model-key.ts';
import { checkPorts, checkPostgres, checkTemporal } from './check-servers.ts';
import { broken } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ExamineOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** State folder of the local stack. */
  readonly directory: string;
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

/** All checks, in the order in which a person would fix what they find. */
export async function examine({ environment, directory }: ExamineOptions): Promise<Finding[]> {
  const { stack, findings } = readStackOrFinding(directory);
  const running = runningStack(directory, stack);
  const databaseUrl =
    given(environment, 'DATABASE_URL') ??
    (running?.postgres ? resolveConnections(environment, running).databaseUrl : null);
  const temporalAddress = given(environment, 'TEMPORAL_ADDRESS') ?? running?.temporal?.address ?? null;
  const namespace = given(environment, 'TEMPORAL_NAMESPACE') ?? running?.temporal?.namespace ?? 'default';
  const servers = { environment, directory, stack };
  const home = dirname(directory);
  const [cli, workspace, disk, ports, postgres, temporal, keys] = await Promise.all([
    checkTemporalCli(environment),
    checkWritable(home),
    checkDisk(home),
    checkPorts(servers),
    checkPostgres(servers, databaseUrl),
    checkTemporal(servers, temporalAddress, namespace),
    checkModelKeys(environment),
  ]);
  return [checkNode(), checkPackages(), cli, workspace, disk, ports, ...findings, ...postgres, temporal, ...keys];
}
