import { definedOf } from '../../context/policy/defined-of.ts';
import type { Neighbour, RecallKind, RecallPassage } from '../../tools/tool.ts';
import { wholeCharacters } from '../../tools/files/text.ts';
import type { Database, Queries } from '../database/database.ts';
import type { ArrangedPassage } from './arrange.ts';
import type { Phrases } from './phrases.ts';
import { leftBranch } from './read-passages.ts';
import type { ReadPassage } from './read-passages.ts';
import type { SearchedScope } from './scope.ts';
import { stemsOf } from './stems.ts';
import { foldAccents, wordsOf } from './words.ts';

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly conversationId: string;
  readonly kind: RecallKind;
  readonly sequence: number | null;
  readonly score: number;
  readonly alsoIn?: readonly string[];
}

/** Characters of a neighbour that are shown: of a question its end, of an answer its beginning. */
const LONGEST_SHOWN = 300;
/** Passages beside one that are read: on the nearest places others may stand that were left, or more of the same entry. */
const MOST_BESIDE = 10;

export async function presentPassages(
  sql: Database,
  { languages }: SearchedScope,
  passages: readonly ArrangedPassage[],
  phrases: Phrases,
): Promise<FoundPassage[]> {
  const words = passages.map(({ text }) => wordsOf(text));
  const [neighbours, stemOf] = await Promise.all([
    readNeighbours(sql, passages),
    stemsOf(
      sql,
      languages.map((language) => [language, words.flat()] as const),
    ),
  ]);
  return passages.map((passage, index) => {
    const { conversationId, sourceId, kind, sequence, createdAt, toolName, path, offset, text, score, match } = passage;
    const terms = termsShown(passage);
    const forms = (words[index] ?? []).filter(
      (word) => terms.has(foldAccents(word.text)) || languages.some((each) => terms.has(stemOf(each, word).term)),
    );
    return {
      conversationId,
      entryId: sourceId,
      kind,
      sequence,
      createdAt: createdAt.toISOString(),
      toolName,
      path,
      offset,
      text,
      score,
      match,
      matched: [...new Set(passage.matched.map(({ word }) => word))],
      forms: [...new Set([...(match === 'phrase' ? phrases : []), ...forms].map((each) => each.text))],
      ...definedOf({
        branch: passage.leftBranch ?? undefined,
        alsoIn: passage.alsoIn.length > 0 ? passage.alsoIn : undefined,
        neighbour: neighbours[index],
      }),
    };
  });
}

/** Of the words of the query that a passage has. Stop words only where there is nothing else. */
function termsShown({ matched }: ArrangedPassage): ReadonlySet<string> {
  const words = matched.filter(({ isDate }) => !isDate);
  const telling = words.filter(({ isStopWord }) => !isStopWord);
  return new Set((telling.length > 0 ? telling : words).flatMap((each) => each.terms));
}

/** `of`: index of the passage that it stands beside. */
type Beside = Pick<ReadPassage, 'sourceId' | 'text' | 'isQuestion' | 'leftBranch'> & { readonly of: number };

/**
 * The question right before a passage that answers, or what was said right after one that asks; `undefined`: it stands alone. "Yes, the third
 * one" is useless without its question, and who finds the question wants the answer. On the active path if anything stands there. What
 * the agent says as it calls tools is the answer only where no other follows before the user speaks again.
 */
async function readNeighbours(sql: Queries, passages: readonly ArrangedPassage[]): Promise<(Neighbour | undefined)[]> {
  const asked = passages.map((passage, of) => ({ ...passage, of })).filter(({ place }) => place !== null);
  const rows = await sql<Beside[]>`
    select a.of, n.source_id, n.text, n.is_question, n.left_branch
    from unnest(${asked.map(({ of }) => of)}::int[], ${asked.map(({ conversationId }) => conversationId)}::uuid[],
      ${asked.map(({ sourceId }) => sourceId)}::uuid[], ${asked.map(({ place }) => place)}::int[],
      ${asked.map(({ isQuestion }) => Number(isQuestion))}::int[]) as a (of, conversation_id, source_id, place, asks)
    cross join lateral (
      select b.*, b.calls or (a.asks = 1 and bool_or(b.kind = 'user')
        over (partition by b.left_branch is null order by b.distance)) as is_late
      from (
        select p.source_id, p.kind, p.text, p.is_question, abs(p.place - a.place) as distance, ${leftBranch(sql)} as left_branch,
          -- Not "exists": Postgres would read all entries once for it.
          coalesce((select e.tool_call_count > 0 from entries e
            where e.conversation_id = p.conversation_id and e.sequence = p.sequence), false) as calls
        from passages p join conversations c on c.id = p.conversation_id
        where p.conversation_id = a.conversation_id and p.source_id <> a.source_id
          and p.place between a.place + case when a.asks = 1 then 1 else -${MOST_BESIDE}::int end
            and a.place + case when a.asks = 1 then ${MOST_BESIDE}::int else -1 end) b
      order by b.left_branch is not null, is_late, b.distance limit 1) n`;
  return passages.map(({ isQuestion, match }, index) => {
    const beside = rows.find(({ of }) => of === index);
    if (beside === undefined || !(isQuestion || beside.isQuestion || match === 'neighbour')) return undefined;
    const whole = beside.text.trim();
    const beginning = `${wholeCharacters(whole.slice(0, LONGEST_SHOWN - 1))}…`;
    const end = `…${wholeCharacters(whole.slice(1 - LONGEST_SHOWN))}`;
    return {
      says: isQuestion ? 'answer' : 'question',
      entryId: beside.sourceId,
      ...definedOf({ branch: beside.leftBranch ?? undefined }),
      text: whole.length <= LONGEST_SHOWN ? whole : isQuestion ? beginning : end,
    };
  });
}
