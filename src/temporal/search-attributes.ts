import { isGrpcServiceError } from '@temporalio/client';
import type { Connection } from '@temporalio/client';
import { TemporalError } from './errors.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/temporal-names.ts';

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const KEYWORD = 2;

/** gRPC codes: the role may not do it, or the service does not exist, as in Temporal Cloud. */
const REFUSED: ReadonlySet<number> = new Set([7, 12]);
/** CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE: a retry may work. Any other failure of a creation is a refusal. */
const PASSING: ReadonlySet<number> = new Set([1, 4, 14]);
const INVALID_ARGUMENT: ReadonlySet<number> = new Set([3]);

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
    if (!hasCode(error, REFUSED)) throw error;
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
    if (hasCode(error, INVALID_ARGUMENT)) return false;
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
    const commands = commandsFor(namespace, left).map((command) => `  ${command}`);
    throw new TemporalError(
      'search_attributes_missing',
      `The namespace "${namespace}" lacks the search attributes ${left.join(', ')} of type Keyword, and this worker cannot create them (${error.details}):\n${commands.join('\n')}`,
      'Have one of these commands run, then start the worker again.',
      { cause: error },
    );
  }
  return missing;
}

function hasCode(error: unknown, codes: ReadonlySet<number>): boolean {
  return isGrpcServiceError(error) && codes.has(error.code);
}
