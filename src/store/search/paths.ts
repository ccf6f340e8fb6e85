import type { Queries } from '../database.ts';
import { plainText } from '../stored-text.ts';
import type { Candidate } from './candidate.ts';
import { wordsOf } from './words.ts';

/** Characters of its end that are kept: whatever stands there is the model's. */
const LONGEST_PATH = 500;

/** Paths with which tools were called, by the entry of the result: of those that were indexed before passages had them. */
export async function pathsOf(sql: Queries, candidates: readonly Candidate[]): Promise<ReadonlyMap<string, string>> {
  const results = candidates.filter(({ kind, path }) => kind === 'tool_result' && path === null);
  if (results.length === 0) return new Map();
  const rows = await sql<{ id: string; arguments: unknown }[]>`
    select e.id, c.arguments from entries e
    join tool_calls c on c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
    where e.id = any(${results.map(({ sourceId }) => sourceId)}::uuid[])`;
  return new Map(rows.map((row) => [row.id, pathIn(row.arguments)]));
}

/** Words by which somebody may ask for a file: the path, the names in it and the file's without its ending, with their parts. */
function wordsOfPath(path: string): ReadonlySet<string> {
  const names = path.split(/[/\\]+/u);
  const bare = (names.at(-1) ?? '').replace(/(?<=.)\.[^.]*$/u, '');
  return new Set([path, ...names, bare].flatMap((name) => wordsOf(name)).map(({ text }) => text));
}

/** Says which words of a query name the file of a result. Of a few paths each: a search has many results of one. */
export class NamedFiles {
  readonly #paths = new Map<string, { readonly written: string; words: ReadonlySet<string> | null }>();

  has(path: string | null, word: string): boolean {
    if (path === null || path === '') return false;
    const known = this.#paths.get(path) ?? { written: path.toLowerCase(), words: null };
    this.#paths.set(path, known);
    // Most paths have none of the words, which costs less to see than to take them apart.
    if (!known.written.includes(word)) return false;
    known.words ??= wordsOfPath(path);
    return known.words.has(word);
  }
}

/** The path with which a tool was called; empty: with none. Arguments are kept as the model wrote them, which need not be JSON. */
export function pathIn(written: unknown): string {
  try {
    const parsed: unknown = typeof written === 'string' ? JSON.parse(written) : written;
    if (typeof parsed !== 'object' || parsed === null || !('path' in parsed)) return '';
    return typeof parsed.path === 'string' ? plainText(parsed.path.slice(-LONGEST_PATH)) : '';
  } catch {
    return '';
  }
}
