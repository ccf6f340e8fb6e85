import type { Queries } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';

/** Paths with which tools were called, by the entry of the result. */
export async function pathsOf(
  sql: Queries,
  candidates: readonly RankedCandidate[],
): Promise<ReadonlyMap<string, string>> {
  const results = candidates.filter(({ kind }) => kind === 'tool_result').map(({ sourceId }) => sourceId);
  if (results.length === 0) return new Map();
  const rows = await sql<{ id: string; arguments: unknown }[]>`
    select e.id, c.arguments from entries e
    join tool_calls c on c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
    where e.id = any(${results}::uuid[])`;
  return new Map(
    rows.flatMap((row) => {
      const path = pathIn(row.arguments);
      return path === undefined ? [] : [[row.id, path] as const];
    }),
  );
}

/** Arguments are kept as the model wrote them, which need not be JSON. */
function pathIn(written: unknown): string | undefined {
  try {
    const parsed: unknown = typeof written === 'string' ? JSON.parse(written) : written;
    if (typeof parsed !== 'object' || parsed === null || !('path' in parsed)) return undefined;
    return typeof parsed.path === 'string' ? parsed.path : undefined;
  } catch {
    return undefined;
  }
}
