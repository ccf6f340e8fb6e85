import type { Queries } from '../database.ts';
import { plainText } from '../stored-text.ts';
import type { Candidate } from './candidate.ts';
import { wordsOf } from './words.ts';
import type { Word } from './words.ts';

/** Names at the end of a path that what the file says is found by: the folders above are those of all files. */
const NAMES = 3;
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

/**
 * Words by which somebody may ask for a file: the path, the names in it with their parts, and the file's without its ending.
 * No endings and no numbers, which tell nothing in a passage that does not have them itself.
 */
export function wordsOfPath(path: string): readonly Word[] {
  const names = path.split(/[/\\]+/u).filter((name) => !/^\.*$/u.test(name));
  const file = names.at(-1) ?? '';
  const bare = file.replace(/(?<=.)\.[^.]*$/u, '');
  const ending = file.slice(bare.length + 1).toLowerCase();
  const nearest = [...names.slice(-NAMES), bare].flatMap((name) => wordsOf(name));
  const whole = wordsOf(path).filter(({ text }) => text.includes('/'));
  return [...whole, ...nearest].filter(({ text }) => text !== ending && !/^\p{N}+$/u.test(text));
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
