import type { Holdfast } from '../../client/holdfast.ts';

import { isId } from '../../store/database/ids.ts';
import { UsageError } from '../usage-error.ts';

/** How an option or argument names an entry. */
export const ENTRY_WORDS = 'its number or id, as `holdfast show` prints them';

/** An entry as a command line names it: by its id, or by its number in the conversation. */
export type EntryArgument = { readonly id: string } | { readonly sequence: number };

/**
 * Reads an argument; needs no connection, so that a wrong one is told at once.
 * @param otherwise what else the argument takes
 * @throws UsageError `usage`
 */
export function readEntryArgument(given: string, otherwise?: string): EntryArgument {
  const wanted = given.trim();
  if (isId(wanted)) return { id: wanted };
  // With commas, as it is printed.
  if (/^(?:\d{1,10}|\d{1,3}(?:,\d{3}){1,3})$/u.test(wanted)) return { sequence: Number(wanted.replaceAll(',', '')) };
  throw new UsageError(
    'usage',
    `"${given}" is no number and no id of an entry.`,
    `\`npx holdfast show <conversation>\` prints both${otherwise === undefined ? '' : `; ${otherwise}`}.`,
  );
}

/**
 * The id that an argument means.
 * @throws HoldfastClientError `entry_not_found` for a number that no entry has
 */
export async function findEntry(client: Holdfast, conversationId: string, entry: EntryArgument): Promise<string> {
  return 'id' in entry ? entry.id : client.log.findEntryId({ conversationId, sequence: entry.sequence });
}
