import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TemporalNamespace } from '../turn/temporal-names.ts';
import { TemporalError } from './errors.ts';

/** How long Temporal keeps closed turns. Holdfast needs them until a worker has looked. */
const RETENTION_HOURS = 72;
/** A new namespace reaches all parts of the server within this. */
const CREATION_MILLISECONDS = 30_000;

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
/** PERMISSION_DENIED, and UNIMPLEMENTED as in Temporal Cloud. */
const REFUSED: ReadonlySet<number> = new Set([7, 12]);

export async function describeNamespace({ workflowService, options }: Client): Promise<TemporalNamespace> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace: options.namespace });
  return { name: options.namespace, id: namespaceInfo?.id ?? '' };
}

/**
 * Describes the client's namespace, and creates it if it is missing.
 * @throws TemporalError `namespace_missing` with the commands to run, if it cannot be created
 */
export async function ensureNamespace(client: Client): Promise<TemporalNamespace> {
  try {
    return await describeNamespace(client);
  } catch (error) {
    if (codeOf(error) !== NOT_FOUND) throw error;
  }
  const { namespace } = client.options;
  try {
    await client.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(`${RETENTION_HOURS} hours`),
    });
  } catch (error) {
    const code = codeOf(error);
    if (code !== null && REFUSED.has(code)) throw namespaceMissing(namespace, error);
    if (code !== ALREADY_EXISTS) throw error;
  }
  return untilKnown(client);
}

function namespaceMissing(namespace: string, cause: unknown): TemporalError {
  return new TemporalError(
    'namespace_missing',
    `The namespace "${namespace}" does not exist, and this worker cannot create it:\n${[
      `temporal operator namespace create --namespace ${namespace} --retention ${RETENTION_HOURS}h`,
      `tcld namespace create --namespace ${namespace} --retention-days ${RETENTION_HOURS / 24} --region <region>   (Temporal Cloud)`,
    ]
      .map((command) => `  ${command}`)
      .join('\n')}`,
    'Have one of these commands run, or correct TEMPORAL_NAMESPACE; then start the worker again.',
    { cause },
  );
}

async function untilKnown(client: Client): Promise<TemporalNamespace> {
  const deadline = performance.now() + CREATION_MILLISECONDS;
  for (;;) {
    try {
      const described = await describeNamespace(client);
      // This call reaches another part of the server.
      await client.workflowService.countWorkflowExecutions({ namespace: described.name });
      return described;
    } catch (error) {
      if (codeOf(error) !== NOT_FOUND || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function codeOf(error: unknown): number | null {
  return isGrpcServiceError(error) ? error.code : null;
}
