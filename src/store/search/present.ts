import { definedOf } from '../../context/policy/defined-of.ts';
import type { Neighbour, RecallKind, RecallPassage } from '../../tools/tool.ts';
import { wholeCharacters } from '../../tools/files/text.ts';
import type { Database, Queries } from '../database/database.ts';
import type { ArrangedPassage } from './arrange.ts';
import type { Phrases } from './phrases.ts';
import { passageColumns } from './read-passages.ts';
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
  const neighbours = await readNeighbours(sql, passages);
  return Promise.all(
    passages.map(async (passage, index) => ({
      conversationId: passage.conversationId,
      entryId: passage.sourceId,
      kind: passage.kind,
      sequence: passage.sequence,
      createdAt: passage.createdAt.toISOString(),
      toolName: passage.toolName,
      path: passage.path,
      offset: passage.offset,
      text: passage.text,
      score: passage.score,
      match: passage.match,
      matched: [...new Set(passage.matched.map(({ word }) => word))],
      forms: [
        ...new Set([
          ...(passage.match === 'phrase' ? phrases.map(({ text }) => text) : []),
          ...(await formsOf(sql, languages, passage)),
        ]),
      ],
      ...definedOf({
        branch: passage.leftBranch ?? undefined,
        alsoIn: passage.alsoIn.length > 0 ? passage.alsoIn : undefined,
        neighbour: neighbours[index] ?? undefined,
      }),
    })),
  );
}

/** Words of a passage that words of the query stand for, in lower case. Stop words only where there is nothing else. */
async function formsOf(
  sql: Queries,
  languages: SearchedScope['languages'],
  { text, matched }: ArrangedPassage,
): Promise<readonly string[]> {
  const words = matched.filter(({ isDate }) => !isDate);
  const telling = words.filter(({ isStopWord }) => !isStopWord);
  const terms = new Set((telling.length > 0 ? telling : words).flatMap((each) => each.terms));
  if (terms.size === 0) return [];
  const ofText = wordsOf(text);
  const stems = await Promise.all(languages.map((language) => stemsOf(sql, language, ofText)));
  const found = ofText.filter(
    ({ text: word }) => terms.has(foldAccents(word)) || stems.some((each) => terms.has(each.get(word)?.term ?? word)),
  );
  return [...new Set(found.map((word) => word.text))];
}

interface Beside extends ReadPassage {
  /** Index of the passage that it stands beside. */
  readonly of: number;
  readonly calls: boolean;
}

/**
 * The question right before a passage that answers, or what was said right after one that asks; `null`: it stands alone. "Yes, the third
 * one" is useless without its question, and who finds the question wants the answer.
 */
async function readNeighbours(sql: Queries, passages: readonly ArrangedPassage[]): Promise<(Neighbour | null)[]> {
  const asked = passages.map(({ place }, of) => ({ of, place })).filter(({ place }) => place !== null);
  if (asked.length === 0) return passages.map(() => null);
  const indexes = asked.map(({ of }) => of);
  const rows = await sql<Beside[]>`
    select a.of, ${passageColumns(sql)},
      -- Not "exists": Postgres would read all entries once for it.
      coalesce((select e.tool_call_count > 0 from entries e
        where e.conversation_id = p.conversation_id and e.sequence = p.sequence), false) as calls
    from unnest(${indexes}::int[], ${indexes.map((of) => passages[of]?.conversationId ?? '')}::uuid[],
      ${asked.map(({ place }) => place)}::int[], ${indexes.map((of) => Number(passages[of]?.isQuestion === true))}::int[])
      as a (of, conversation_id, place, asks)
    cross join lateral (
      select p.* from passages p
      where p.conversation_id = a.conversation_id and case when a.asks = 1
        then p.place between a.place + 1 and a.place + ${MOST_BESIDE}
        else p.place between a.place - ${MOST_BESIDE} and a.place - 1 end
        and p.place between a.place - ${MOST_BESIDE} and a.place + ${MOST_BESIDE}) p
    join conversations c on c.id = p.conversation_id
    order by a.of, abs(p.place - a.place)`;
  return passages.map((passage, index) => {
    const rowsBeside = rows.filter(({ of, sourceId }) => of === index && sourceId !== passage.sourceId);
    const beside = chooseBeside(passage, rowsBeside);
    if (beside === undefined) return null;
    const isJoined = passage.isQuestion || beside.isQuestion || passage.match === 'neighbour';
    return isJoined ? shownBeside(passage, beside) : null;
  });
}

/** The nearest, on the active path if there is one. What the agent says as it calls tools is the answer only where no other follows. */
function chooseBeside({ isQuestion }: ArrangedPassage, rows: readonly Beside[]): Beside | undefined {
  const active = rows.filter(({ leftBranch }) => leftBranch === null);
  const nearest = active.length > 0 ? active : rows;
  if (!isQuestion) return nearest.find(({ calls }) => !calls) ?? nearest[0];
  const next = nearest.findIndex(({ kind }) => kind === 'user');
  const answers = next < 0 ? nearest : nearest.slice(0, next);
  return answers.find(({ calls }) => !calls) ?? nearest[0];
}

function shownBeside({ isQuestion }: ArrangedPassage, { sourceId, leftBranch, text }: Beside): Neighbour {
  const whole = text.trim();
  const isShort = whole.length <= LONGEST_SHOWN;
  const beginning = `${wholeCharacters(whole.slice(0, LONGEST_SHOWN - 1))}…`;
  const end = `…${wholeCharacters(whole.slice(whole.length - LONGEST_SHOWN + 1))}`;
  return {
    says: isQuestion ? 'answer' : 'question',
    entryId: sourceId,
    ...definedOf({ branch: leftBranch ?? undefined }),
    text: isShort ? whole : isQuestion ? beginning : end,
  };
}
