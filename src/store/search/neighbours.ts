import { definedOf } from '../../context/defined-of.ts';
import type { Neighbour } from '../../tools/tool.ts';
import { wholeCharacters } from '../../tools/whole-characters.ts';
import type { Database, Fragment, Queries } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';
import type { FoundPassage } from './found-passage.ts';
import { BLOCK_PASSAGES } from './postings.ts';

/** Characters of a neighbour that are shown: of a question its end, of an answer its beginning. */
const LONGEST_SHOWN = 300;

const ASKS = /[?？؟]["'”’»)\]]*\s*$/u;

interface NeighbourRow {
  readonly of: string;
  readonly says: Neighbour['says'];
  readonly id: string;
  /** The branch that it was said on, when that is not the active one. */
  readonly left: number | null;
  readonly text: string;
}

/** What was said before and after each of some passages, where it is read. */
export type Neighbours = ReadonlyMap<string, NeighbourRow>;

/**
 * Reads what user and agent said to each other around passages that one of them said, whatever was called, noted or compacted in between.
 * What was said after is what the active branch goes on with, where it does, else what the passage's own does, else another one.
 */
export async function readNeighbours(
  sql: Database,
  passages: readonly Pick<RankedCandidate, 'kind' | 'sourceId' | 'text'>[],
): Promise<Neighbours> {
  const spoken = passages.filter(({ kind }) => kind === 'user' || kind === 'assistant');
  if (spoken.length === 0) return new Map();
  const idsThatWant = (says: Neighbour['says']): string[] =>
    spoken.filter(({ text }) => wantedOf(text) === says).map(({ sourceId }) => sourceId);
  const [answers, questions] = [idsThatWant('question'), idsThatWant('answer')];
  const rows = await sql<NeighbourRow[]>`
    with said as materialized (
      select e.id, e.conversation_id, e.branch, e.sequence, c.branch as active, l.id as last_passage,
        ${isOnPath(sql, sql`c.branch`, sql`e`)} as is_active
      from entries e join conversations c on c.id = e.conversation_id
      cross join lateral (
        select p.id from passages p where p.source_id = e.id order by p.character_offset desc limit 1) as l
      -- Nothing but calls is no answer.
      join search_blocks b on b.number = l.id / ${BLOCK_PASSAGES} and b.is_spoken
      where e.id = any(${[...answers, ...questions]}::uuid[]))
    select e.id as of, 'question' as says, before.id, p.text,
      case when not ${isOnPath(sql, sql`e.active`, sql`before`)} then before.branch end as left
    from said e cross join lateral (${talkBefore(sql)}) as before
    cross join lateral (
      select text from passages where source_id = before.id order by character_offset desc limit 1) as p
    where e.id = any(${answers}::uuid[])
    union all
    select e.id, 'answer', after.id, p.text, case when not after.is_active then after.branch end
    from said e cross join lateral (
      select n.id, n.branch, ${isOnPath(sql, sql`e.active`, sql`n`)} as is_active
      from (${talkAfter(sql)} union all ${stepAfter(sql)}) as n
      order by is_active desc, n.is_answer desc, n.sequence limit 1) as after
    cross join lateral (select text from passages where source_id = after.id order by character_offset limit 1) as p
    where e.id = any(${questions}::uuid[])`;
  return new Map(rows.map((row) => [keyOf(row.of, row.says), row]));
}

/** Whether an entry lies on the path to the head of a branch of the conversation `e` is of. */
function isOnPath(sql: Queries, branch: Fragment, entry: Fragment): Fragment {
  return sql`exists (
    select from branches b where b.conversation_id = e.conversation_id and b.branch = ${branch}
      and b.ancestor = ${entry}.branch and ${entry}.sequence <= b.through_sequence)`;
}

/** What the index of the talk holds: messages, and answers that call no tool. */
function isTalk(sql: Queries): Fragment {
  return sql`n.conversation_id = e.conversation_id and (n.kind = 'user' or n.kind = 'assistant' and n.tool_call_count = 0)`;
}

/** The newest of the talk on the path to `e`: one row of the index for each branch that the path leads over. */
function talkBefore(sql: Queries): Fragment {
  return sql`
    select n.* from branches b cross join lateral (
      select n.id, n.branch, n.sequence from entries n
      where ${isTalk(sql)} and n.branch = b.ancestor and n.sequence < e.sequence and n.sequence <= b.through_sequence
      order by n.sequence desc limit 1) as n
    where b.conversation_id = e.conversation_id and b.branch = e.branch
    order by n.sequence desc limit 1`;
}

/**
 * The first of the talk that follows `e` on the active path, and on its own branch or, where that ends, the first one that was forked
 * from it: branches get their entries after what they are forked from has its.
 */
function talkAfter(sql: Queries): Fragment {
  const columns = sql`n.id, n.branch, n.sequence, n.kind = 'assistant' as is_answer`;
  return sql`
    (select n.* from branches b cross join lateral (
      select ${columns} from entries n
      where ${isTalk(sql)} and n.branch = b.ancestor and n.sequence > e.sequence and n.sequence <= b.through_sequence
      order by n.sequence limit 1) as n
    where e.is_active and b.conversation_id = e.conversation_id and b.branch = e.active
    order by n.sequence limit 1)
    union all
    (select n.* from branches b cross join lateral (
      select ${columns} from entries n where ${isTalk(sql)} and n.branch = b.branch and n.sequence > e.sequence
      order by n.sequence limit 1) as n
    where b.conversation_id = e.conversation_id and b.ancestor = e.branch and b.through_sequence >= e.sequence
    order by b.branch <> e.branch, b.branch limit 1)`;
}

/** What the agent said as it called tools, if that comes next: all that was said where the turn ended without an answer. */
function stepAfter(sql: Queries): Fragment {
  return sql`
    select n.id, n.branch, n.sequence, false from passages p join entries n on n.id = p.source_id
    where p.id = e.last_passage + 1 and p.id % ${BLOCK_PASSAGES} > 0 and p.kind = 'assistant'
      and n.conversation_id = e.conversation_id and ${isOnPath(sql, sql`n.branch`, sql`e`)}`;
}

/** Which neighbour a passage is shown with: the answer of one that asks, the question of one that answers. */
function wantedOf(text: string): Neighbour['says'] {
  return ASKS.test(text) ? 'answer' : 'question';
}

function keyOf(entryId: string, says: Neighbour['says']): string {
  return `${entryId} ${says}`;
}

/**
 * Joins the question with its answer: what was said right before a passage that answers, and right after one that asks. "Yes,
 * the third one" is useless without its question, and who finds the question wants the answer. Neither takes a place of its own.
 */
export function joinNeighbour(passage: FoundPassage, neighbours: Neighbours): FoundPassage {
  const row = neighbours.get(keyOf(passage.entryId, wantedOf(passage.text)));
  if (row === undefined || !isJoined(passage, row)) return passage;
  return Object.assign({}, passage, { neighbour: shown(row) });
}

/** What was found by the words of its neighbour is shown with it, whatever that says. */
function isJoined({ match }: FoundPassage, { says, text }: NeighbourRow): boolean {
  return says === 'answer' || match === 'neighbour' || ASKS.test(text);
}

function shown({ says, id, left, text }: NeighbourRow): Neighbour {
  const place = { says, entryId: id, ...definedOf({ branch: left ?? undefined }) };
  const whole = text.trim();
  if (whole.length <= LONGEST_SHOWN) return { ...place, text: whole };
  const piece =
    says === 'answer'
      ? `${wholeCharacters(whole.slice(0, LONGEST_SHOWN - 1))}…`
      : `…${wholeCharacters(whole.slice(whole.length - LONGEST_SHOWN + 1))}`;
  return { ...place, text: piece };
}
