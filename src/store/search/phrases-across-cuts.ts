import type { Database } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';
import { passageColumns } from './find-candidates.ts';
import type { PassageRow } from './find-candidates.ts';
import { toVector, visitWords } from './passage-terms.ts';
import { hasPhrases, isSideOfRow } from './phrases.ts';
import type { Phrases } from './phrases.ts';
import { bestFirst } from './rank.ts';
import { countPlaces } from './words.ts';

/** Passages, the best ones, that are read on: one side of a cut has most words of a row. */
const READ_ON = 30;

/**
 * A long text is cut into passages, and a row of words that a query names may go through a cut and stand in neither. The best are read together with
 * those around them, and two that have it together, neither alone, are shown as one.
 */
export async function phrasesAcrossCuts(
  sql: Database,
  ranked: readonly RankedCandidate[],
  phrases: Phrases,
): Promise<readonly RankedCandidate[]> {
  const read = ranked.slice(0, READ_ON).filter(({ text }) => phrases.areQuoted || isSideOfRow(text, phrases));
  // A row of words without quotation marks is meant as it is where nothing else has it.
  if (read.length === 0 || (!phrases.areQuoted && ranked[0]?.match === 'phrase')) return ranked;
  const found = new Map<string, RankedCandidate>();
  const parts = new Set<string>();
  const both = new Map(ranked.map((each) => [keyOf(each), each.matched]));
  for (const { first, second, candidate } of await readPairs(sql, read)) {
    if (found.has(keyOf(first)) || hasPhrases(first.text, phrases) || hasPhrases(second.text, phrases)) continue;
    // Where a blank passage was left out between them, the first one ends in white space.
    const text = `${first.text}${second.text}`;
    if (!hasPhrases(text, phrases)) continue;
    const words = both.get(keyOf(second)) ?? [];
    found.set(keyOf(first), {
      ...candidate,
      offset: first.offset,
      vector: joinVectors(first, second),
      text,
      match: 'phrase',
      matched: [...new Set([...(both.get(keyOf(first)) ?? []), ...words])],
    });
    parts.add(keyOf(first)).add(keyOf(second));
  }
  if (found.size === 0) return ranked;
  return [...found.values(), ...ranked.filter((candidate) => !parts.has(keyOf(candidate)))].toSorted(bestFirst);
}

type Part = Pick<RankedCandidate, 'sourceId' | 'offset' | 'text' | 'vector'>;

/** Two passages that follow each other in a text. */
interface Pair {
  readonly first: Part;
  readonly second: Part;
  /** The one of them that was found. */
  readonly candidate: RankedCandidate;
}

/** Each candidate with the passage that follows it, and with the one before it. */
async function readPairs(sql: Database, candidates: readonly RankedCandidate[]): Promise<readonly Pair[]> {
  const sources = candidates.map(({ sourceId }) => sourceId);
  const offsets = candidates.map(({ offset }) => offset);
  const rows = await sql<(PassageRow & { readonly place: number })[]>`
    with given as (select * from unnest(${sources}::uuid[], ${offsets}::int[]) with ordinality as given (source_id, at, place))
    select g.place::int, n.* from given g cross join lateral (
      select ${passageColumns(sql)} from passages p where p.source_id = g.source_id and p.character_offset > g.at
      order by p.character_offset limit 1) as n
    union all
    select g.place::int, n.* from given g cross join lateral (
      select ${passageColumns(sql)} from passages p where p.source_id = g.source_id and p.character_offset < g.at
      order by p.character_offset desc limit 1) as n
    order by place`;
  return rows.flatMap(({ place, source_id: sourceId, character_offset: offset, text, vector }) => {
    const candidate = candidates[place - 1];
    if (candidate === undefined) return [];
    const other = { sourceId, offset, text, vector };
    const isNext = offset > candidate.offset;
    return [{ candidate, first: isNext ? candidate : other, second: isNext ? other : candidate }];
  });
}

/** As if both texts had been one passage: the places of the second go on behind those of the first. */
function joinVectors(first: Part, second: Part): string {
  const places = new Map<string, number[]>();
  visitWords(first.vector, (term, at) => places.set(term, [...at]));
  const shift = countPlaces(first.text);
  visitWords(second.vector, (term, at) => {
    places.set(term, [...(places.get(term) ?? []), ...at.map((place) => place + shift)]);
  });
  return toVector(places);
}

function keyOf({ sourceId, offset }: Pick<Part, 'sourceId' | 'offset'>): string {
  return `${sourceId} ${offset}`;
}
