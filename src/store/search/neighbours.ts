import type { Neighbour } from '../../tools/tool.ts';
import { wholeCharacters } from '../../tools/whole-characters.ts';
import type { Database } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';
import type { FoundPassage } from './found-passage.ts';

/** Characters of a neighbour that are shown: of a question its end, of an answer its beginning. */
const LONGEST_SHOWN = 300;

const ASKS = /[?？؟]["'”’»)\]]*\s*$/u;

interface NeighbourRow {
  readonly of: string;
  readonly says: Neighbour['says'];
  readonly id: string;
  readonly text: string;
}

/** What was said right before and right after each of some passages, where it is read. */
export type Neighbours = ReadonlyMap<string, NeighbourRow>;

/** Reads what was said around passages that somebody said. */
export async function readNeighbours(
  sql: Database,
  passages: readonly Pick<RankedCandidate, 'kind' | 'sourceId'>[],
): Promise<Neighbours> {
  const spoken = passages.filter(({ kind }) => kind === 'user' || kind === 'assistant').map(({ sourceId }) => sourceId);
  if (spoken.length === 0) return new Map();
  const rows = await sql<NeighbourRow[]>`
    select e.id as of, 'question' as says, before.id, p.text
    from entries e join entries before on before.id = e.parent_id and before.kind in ('user', 'assistant')
    cross join lateral (
      select text from passages where source_id = before.id order by character_offset desc limit 1) as p
    where e.id = any(${spoken}::uuid[])
    union all
    select e.id, 'answer', after.id, p.text
    from entries e cross join lateral (
      -- The next one of all, whatever its branch: to look for the first that follows would read on to the end where none does.
      select n.id, n.kind, n.parent_id from entries n
      where n.conversation_id = e.conversation_id and n.sequence > e.sequence
      order by n.sequence limit 1) as after
    cross join lateral (select text from passages where source_id = after.id order by character_offset limit 1) as p
    where e.id = any(${spoken}::uuid[]) and after.parent_id = e.id and after.kind in ('user', 'assistant')`;
  return new Map(rows.map((row) => [keyOf(row.of, row.says), row]));
}

function keyOf(entryId: string, says: Neighbour['says']): string {
  return `${entryId} ${says}`;
}

/**
 * Joins the question with its answer: what was said right before a passage that answers, and right after one that asks. "Yes,
 * the third one" is useless without its question, and who finds the question wants the answer. Neither takes a place of its own.
 */
export function joinNeighbour(passage: FoundPassage, neighbours: Neighbours): FoundPassage {
  const row = neighbours.get(keyOf(passage.entryId, ASKS.test(passage.text) ? 'answer' : 'question'));
  if (row === undefined || !isJoined(passage, row)) return passage;
  return Object.assign({}, passage, { neighbour: shown(row) });
}

/** What was found by the words of its neighbour is shown with it, whatever that says. */
function isJoined({ match }: FoundPassage, { says, text }: NeighbourRow): boolean {
  return says === 'answer' || match === 'neighbour' || ASKS.test(text);
}

function shown({ says, id, text }: NeighbourRow): Neighbour {
  const whole = text.trim();
  if (whole.length <= LONGEST_SHOWN) return { says, entryId: id, text: whole };
  const piece =
    says === 'answer'
      ? `${wholeCharacters(whole.slice(0, LONGEST_SHOWN - 1))}…`
      : `…${wholeCharacters(whole.slice(whole.length - LONGEST_SHOWN + 1))}`;
  return { says, entryId: id, text: piece };
}
