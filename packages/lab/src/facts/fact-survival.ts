import { textOf } from 'holdfast/internal/context/log/content.js';
import { splitLists, isSummaryMessage } from 'holdfast/internal/context/summary/summary-message.js';
import type { View } from 'holdfast/internal/context/view/view.js';
import { readableEntryText } from 'holdfast/internal/store/log/entry-text.js';
import type { PooledFact } from './fact-pool.ts';
import { saysFact, searchedText } from 'holdfast/internal/verify/audit/find-fact.js';
import type { SearchedText } from 'holdfast/internal/verify/audit/find-fact.js';

/** Where a fact stands that the view still says; the first in this order counts. */
export type FactPlace = 'tail' | 'userMessages' | 'summary' | 'ledger';

const PLACES: readonly FactPlace[] = ['tail', 'userMessages', 'summary', 'ledger'];

export interface FactFigures {
  /** Facts that were asked for. */
  readonly facts: number;
  readonly inView: number;
  readonly where: Readonly<Record<FactPlace, number>>;
  /** Facts that the view does not say and recall finds. */
  readonly byRecall: number;
  /** Facts that neither says. */
  readonly lost: number;
}

/** Finds a fact that is not in the view: through an id that the view names, or by a search for what stood around it. */
export type FindByRecall = (fact: PooledFact, view: View) => boolean;

/** Counts what the view still says of the facts. */
export function countSurvivors(facts: readonly PooledFact[], view: View, recall: FindByRecall | null): FactFigures {
  const texts = textsOf(view);
  const where: Record<FactPlace, number> = { tail: 0, userMessages: 0, summary: 0, ledger: 0 };
  let inView = 0;
  let byRecall = 0;
  for (const fact of facts) {
    const place = PLACES.find((each) => saysFact(texts[each], fact));
    if (place !== undefined) {
      where[place] += 1;
      inView += 1;
    } else if (recall?.(fact, view) === true) byRecall += 1;
  }
  return { facts: facts.length, inView, where, byRecall, lost: facts.length - inView - byRecall };
}

/** The same view after a pass that wrote nothing: what its summaries are worth. */
export function withoutSummaries(view: View): View {
  return { ...view, messages: view.messages.filter((message) => !isSummaryMessage(message)) };
}

/**
 * The view by place: answers and results are the tail; what the model wrote of a summary is the
 * summary; what the program appended to it, and notes, are the ledger. Instructions say no facts.
 */
function textsOf(view: View): Readonly<Record<FactPlace, SearchedText>> {
  const parts: Record<FactPlace, string[]> = { tail: [], userMessages: [], summary: [], ledger: [] };
  for (const message of view.messages) {
    if (message.role === 'tool_results') {
      parts.tail.push(...message.results.map((result) => readableEntryText(result.content)));
    } else if (isSummaryMessage(message)) {
      const { written, lists } = splitLists(textOf(message.content));
      parts.summary.push(written);
      parts.ledger.push(lists);
    } else if (message.role === 'assistant') parts.tail.push(readableEntryText(message.content));
    else if (message.origin === 'user') parts.userMessages.push(readableEntryText(message.content));
    else parts.ledger.push(readableEntryText(message.content));
  }
  return {
    tail: searchedText(parts.tail.join('\n'), false),
    userMessages: searchedText(parts.userMessages.join('\n'), false),
    summary: searchedText(parts.summary.join('\n'), true),
    ledger: searchedText(parts.ledger.join('\n'), true),
  };
}
