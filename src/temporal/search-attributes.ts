import { isGrpcServiceError } from '@temporalio/client';
import type { Connection } from '@temporalio/client';
import { TemporalError } from './errors.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/search-attribute-names.ts';

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const KEYWORD = 2;

/** Codes of gRPC: the role may not do it, or the service is not served there, as in Temporal Cloud. */
const REFUSED: ReadonlySet<number> = new Set([7, 12]);
/** The same, and ALREADY_EXISTS: another worker created it meanwhile, or there is one of another type. */
const NOT_CREATED: ReadonlySet<number> = new Set([6, 7, 12]);

type OperatorConnection = Pick<Connection, 'operatorService'>;

/** What a person runs who may create them. */
export function commandsFor(namespace: string, missing: readonly string[]): readonly string[] {
  const names = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
  const pairs = missing.map((name) => `--search-attribute "${name}=Keyword"`).join(' ');
  return [
    `temporal operator search-attribute create --namespace ${namespace} ${names}`,
    `tcld namespace search-attributes add --namespace ${namespace} ${pairs}   (Temporal Cloud)`,
  ];
}

/** Names of the search attributes that a namespace lacks; `null`: its server does not tell. */
export async function missingSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<string[] | null> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.values(SEARCH_ATTRIBUTE_NAMES).filter((name) => Number(customAttributes?.[name]) !== KEYWORD);
  } catch (error) {
    if (hasCode(error, REFUSED)) return null;
    throw error;
  }
}

/**
 * Creates what the namespace lacks: without one of them, Temporal refuses the first task of every turn, again and again.
 * @returns the names that were created; the server may take a minute to know them everywhere
 * @throws TemporalError `search_attributes_missing` with the commands to run, where they cannot be created
 */
export async function createSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<readonly string[]> {
  const missing = (await missingSearchAttributes(connection, namespace)) ?? [];
  if (missing.length === 0) return [];
  try {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!hasCode(error, NOT_CREATED)) throw error;
    const left = (await missingSearchAttributes(connection, namespace)) ?? [];
    if (left.length === 0) return [];
    const commands = commandsFor(namespace, left).map((command) => `  ${command}`);
    throw new TemporalError(
      'search_attributes_missing',
      `The namespace "${namespace}" lacks the search attributes ${left.join(', ')} of type Keyword, and this worker cannot create them:\n${commands.join('\n')}`,
      'Have one of these commands run, then start the worker again.',
      { cause: error },
    );
  }
  return missing;
}

function hasCode(error: unknown, codes: ReadonlySet<number>): boolean {
  return isGrpcServiceError(error) && codes.has(error.code);
}
