import { isGrpcServiceError } from '@temporalio/client';
import type { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/temporal-names.ts';
import type { TemporalNamespace } from '../turn/temporal-names.ts';
import { TemporalError } from './errors.ts';
import type { TemporalErrorCode } from './errors.ts';

/** How long Temporal keeps closed turns. Holdfast needs them until a worker has looked. */
const RETENTION_HOURS = 72;
/** A new namespace reaches all parts of the server within this. */
const CREATION_MILLISECONDS = 30_000;

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const KEYWORD = 2;

// Codes of gRPC.
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
/** PERMISSION_DENIED, and UNIMPLEMENTED as in Temporal Cloud. */
const REFUSED: ReadonlySet<number | null> = new Set([7, 12]);
/** CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE: a retry may work. Any other failure of a creation is a refusal. */
const PASSING: ReadonlySet<number> = new Set([1, 4, 14]);

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
    if (REFUSED.has(code)) {
      throw cannotCreate('namespace_missing', `The namespace "${namespace}" does not exist`, error, [
        `temporal operator namespace create --namespace ${namespace} --retention ${RETENTION_HOURS}h`,
        `tcld namespace create --namespace ${namespace} --retention-days ${RETENTION_HOURS / 24} --region <region>   (Temporal Cloud)`,
      ]);
    }
    if (code !== ALREADY_EXISTS) throw error;
  }
  return untilKnown(client);
}

function cannotCreate(
  code: TemporalErrorCode,
  problem: string,
  cause: unknown,
  commands: readonly string[],
): TemporalError {
  const told = `${problem}, and this worker cannot create what is missing (${isGrpcServiceError(cause) ? cause.details : ''}):`;
  const advice = 'Have one of these commands run, or correct TEMPORAL_NAMESPACE; then start the worker again.';
  return new TemporalError(code, [told, ...commands.map((command) => `  ${command}`)].join('\n'), advice, { cause });
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

type OperatorConnection = Pick<Connection, 'operatorService' | 'workflowService'>;

/** Commands for a person who may create them. */
export function commandsFor(namespace: string, missing: readonly string[]): readonly string[] {
  const names = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
  const pairs = missing.map((name) => `--search-attribute "${name}=Keyword"`).join(' ');
  return [
    `temporal operator search-attribute create --namespace ${namespace} ${names}`,
    `tcld namespace search-attributes add --namespace ${namespace} ${pairs}   (Temporal Cloud)`,
  ];
}

/** Search attributes that a namespace lacks or has with another type. */
export async function missingSearchAttributes(connection: OperatorConnection, namespace: string): Promise<string[]> {
  const names = Object.values(SEARCH_ATTRIBUTE_NAMES);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => Number(customAttributes?.[name]) !== KEYWORD);
  } catch (error) {
    if (!REFUSED.has(codeOf(error))) throw error;
    const known = await Promise.all(names.map((name) => isKnown(connection, namespace, name)));
    return names.filter((_, index) => known[index] === false);
  }
}

/** If the server does not serve the list, a query that names the attribute shows whether it exists. */
async function isKnown(connection: OperatorConnection, namespace: string, name: string): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` });
    return true;
  } catch (error) {
    if (codeOf(error) === INVALID_ARGUMENT) return false;
    throw error;
  }
}

/**
 * Creates missing search attributes. Without them, Temporal refuses the first task of every turn again and again.
 * @returns the created names; the server may need a minute to know them everywhere
 * @throws TemporalError `search_attributes_missing` with the commands to run, if they cannot be created
 */
export async function createSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<readonly string[]> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  try {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!isGrpcServiceError(error) || PASSING.has(error.code)) throw error;
    // Another worker may have created it.
    const left = await missingSearchAttributes(connection, namespace);
    if (left.length === 0) return [];
    const problem = `The namespace "${namespace}" lacks the search attributes ${left.join(', ')} of type Keyword`;
    throw cannotCreate('search_attributes_missing', problem, error, commandsFor(namespace, left));
  }
  return missing;
}
