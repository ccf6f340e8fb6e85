import { inOneSpelling } from '../../context/one-spelling.ts';
import type { Database } from '../database.ts';
import type { ReadPostings } from './gather.ts';
import { BLOCK_PASSAGES, POSTING_BYTES, bitsAt, placeOf } from './postings.ts';
import { quoteTerm } from './passage-terms.ts';
import { readPostings } from './read-postings.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';
import { wordsOf } from './words.ts';
import { hasSigns } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** Postings that are read for a phrase: in that many of the newest passages of its words it is looked for. */
const MOST_POSTINGS = 60_000;
/** Blocks of an agent that are no more than those of one long conversation. */
const FEW_BLOCKS = 128;
/** Rows of postings that are read at once for a phrase among many blocks. */
const MOST_ROWS = 20_000;
/** Passages with all words of a phrase in which Postgres looks whether they stand in a row. */
const MOST_LOOKED_AT = 4_000;
/** … and texts of those with its one word that are read for the signs beside it ("C#"): ten microseconds each. */
const MOST_TEXTS = 500;
const MOST_FOUND = 20;
/** An unquoted query of so many words may be meant as it is … */
const MOST_WORDS = 4;
/** … and of so many where the words of a longer one alone are in too many passages to find those that have them in a row. */
const MOST_WORDS_AMONG_MANY = 12;
const MANY_PASSAGES = 80_000;

/** Whether the query may be a row of words that its words alone do not find: "get up". */
export function isSoughtAsPhrase({ all, areQuoted }: Phrases, { passages }: Pick<SearchedScope, 'passages'>): boolean {
  const most = passages > MANY_PASSAGES ? MOST_WORDS_AMONG_MANY : MOST_WORDS;
  return areQuoted || all.every(({ text }) => text.split(' ').length <= most);
}

/** Ids of the newest passages that have the words of all phrases in a row; stems count for their words. */
export async function findPhrases(
  sql: Database,
  scope: SearchedScope,
  phrases: Phrases,
  { terms, blocks }: { readonly terms: readonly WeightedTerm[]; readonly blocks: readonly number[] },
): Promise<readonly number[]> {
  const rows = phrases.all.map(({ text }) => termsInRow(text, terms));
  const known = rows.flatMap((row) => row ?? []);
  if (rows.includes(null)) return [];
  // Words alone are in a row with nothing.
  const areAlone = rows.every((row) => row === null || row.length < 2);
  if (known.length === 0 || (areAlone && !phrases.all.some(hasSigns))) return [];
  const sought = [...new Set(known)];
  const ids = await withAll(sql, scope, rarestOf(sought), blocks);
  if (ids.length === 0) return [];
  if (areAlone) return withTexts(sql, ids.slice(0, MOST_TEXTS), phrases);
  const asked = rows.map((row) => `(${(row ?? []).map(anyOf).join(' <-> ')})`).join(' & ');
  const found = await sql<{ id: string }[]>`
    select id from passages where id = any(${ids}::bigint[]) and terms @@ ${asked}::tsquery order by id desc limit ${MOST_FOUND}`;
  return found.map(({ id }) => Number(id));
}

/**
 * Those of the passages whose texts have all phrases, perhaps within a word, in any of their spellings. The texts are compared as they
 * are: `normalize` takes 150 microseconds for a thousand characters, and 75 ms for all of these texts.
 */
async function withTexts(sql: Database, ids: readonly number[], { all }: Phrases): Promise<readonly number[]> {
  const sought = all.flatMap(({ text }, phrase) => spellingsOf(text).map((spelling) => ({ phrase, spelling })));
  const found = await sql<{ id: string }[]>`
    select id from passages cross join lateral (select lower(text) offset 0) as written (lower)
    where id = any(${[...ids]}::bigint[]) and (
      select bool_and(stands) from (
        select bool_or(strpos(lower, spelling) > 0) as stands
        from unnest(${sought.map(({ phrase }) => phrase)}::int[], ${sought.map(({ spelling }) => spelling)}::text[]) as sought (phrase, spelling)
        group by phrase) as each)
    order by id desc limit ${MOST_FOUND}`;
  return found.map(({ id }) => Number(id));
}

const NARROW = /[!-~]/gu;
/** From a character of ASCII to the same of full width. */
const TO_FULL_WIDTH = 0xfee0;

/** In which a whole text may be written: as it is asked for, as in the index, with accents apart, in full width. */
function spellingsOf(phrase: string): readonly string[] {
  const spelled = inOneSpelling(phrase);
  const wide = spelled.replaceAll(NARROW, (sign) => String.fromCharCode(sign.charCodeAt(0) + TO_FULL_WIDTH));
  return [...new Set([phrase, spelled, spelled.normalize('NFD'), wide])];
}

/** The terms of the query that the words of a phrase stand for, in their order; `null` when there is none for one of them. */
function termsInRow(phrase: string, terms: readonly WeightedTerm[]): readonly WeightedTerm[] | null {
  const row: WeightedTerm[] = [];
  let place = 0;
  for (const { text, position } of wordsOf(phrase)) {
    // The parts of an identifier stand at its place.
    if (position === place) continue;
    place = position;
    const term = terms.find(({ isRelated, word, terms: each }) => !isRelated && (word === text || each.includes(text)));
    if (term === undefined) return null;
    row.push(term);
  }
  return row;
}

function anyOf({ terms }: WeightedTerm): string {
  return `(${terms.map(quoteTerm).join(' | ')})`;
}

/** Words that are everywhere leave out next to nothing, and their postings would leave room for the newest passages only. */
function rarestOf(terms: readonly WeightedTerm[]): readonly WeightedTerm[] {
  const [first, ...others] = terms.toSorted((one, other) => one.passages - other.passages);
  if (first === undefined) return [];
  let left = MOST_POSTINGS - first.passages;
  return [first, ...others.filter(({ passages }) => (left -= passages) >= 0)];
}

/** Ids of the newest passages that have each of the terms, by their postings. @param terms the rarest first */
async function withAll(
  sql: Database,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  blocks: readonly number[],
): Promise<number[]> {
  const perBlock = terms.reduce((sum, { passages }) => sum + passages, 0) / scope.allBlocks;
  const newest = blocks.slice(-Math.max(1, Math.floor(MOST_POSTINGS / Math.max(1, perBlock))));
  const read = await readOfAll(sql, scope, terms, newest);
  return placesWithAll(read, terms.length)
    .toSorted((one, other) => other - one)
    .slice(0, MOST_LOOKED_AT);
}

/**
 * Of many small blocks few have the rarest two of the words, and the others are read in these alone: each word has a row in each block.
 * Of few all words are read at once, which spares two ways to the server.
 */
async function readOfAll(
  sql: Database,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  blocks: readonly number[],
): Promise<readonly ReadPostings[]> {
  const all = [...terms.keys()];
  if (scope.conversationId !== null || blocks.length <= FEW_BLOCKS)
    return readPostings(sql, scope, { terms, chosen: all, blocks });
  const read: ReadPostings[] = [];
  let having = blocks;
  for (const chosen of [all.slice(0, 1), all.slice(1, 2), all.slice(2)]) {
    if (chosen.length === 0) break;
    having = having.slice(-Math.floor(MOST_ROWS / chosen.length));
    const found = await readPostings(sql, scope, { terms, chosen, blocks: having });
    read.push(...found);
    having = [...new Set(found.map(({ block }) => block))].toSorted((one, other) => one - other);
    if (having.length === 0) return [];
  }
  const inAll = new Set(having);
  return read.filter(({ block }) => inAll.has(block));
}

/** Ids of the passages that have each of so many terms; a passage that lacks one is not counted for those after it. */
function placesWithAll(read: readonly ReadPostings[], terms: number): number[] {
  const having = new Map<number, Uint8Array>();
  for (const { term, block, postings } of read.toSorted((one, other) => one.term - other.term)) {
    const counts = having.get(block) ?? new Uint8Array(BLOCK_PASSAGES);
    having.set(block, counts);
    for (let at = 0; at < postings.length; at += POSTING_BYTES) {
      const place = placeOf(bitsAt(postings, at));
      if (counts[place] === term) counts[place] = term + 1;
    }
  }
  return [...having].flatMap(([block, counts]) => idsOf(block, counts, terms));
}

function idsOf(block: number, counts: Uint8Array, terms: number): number[] {
  const ids: number[] = [];
  for (let place = counts.indexOf(terms); place >= 0; place = counts.indexOf(terms, place + 1)) {
    ids.push(block * BLOCK_PASSAGES + place);
  }
  return ids;
}
