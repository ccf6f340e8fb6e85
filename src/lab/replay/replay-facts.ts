import { groupEntries } from '../../context/groups.ts';
import { projectView } from '../../context/project-view.ts';
import type { View } from '../../context/view.ts';
import { arrangeView, operationsByEntry } from '../../context/view-arrangement.ts';
import { entryText } from '../../store/entry-text.ts';
import { poolFacts, sampleFacts } from '../facts/fact-pool.ts';
import type { PooledFact } from '../facts/fact-pool.ts';
import { countSurvivors, withoutSummaries } from '../facts/fact-survival.ts';
import type { FactFigures } from '../facts/fact-survival.ts';
import { RecallSearch } from '../facts/recall-search.ts';
import type { LabSession } from '../session/lab-session.ts';
import { searchedText, saysFact } from '../facts/find-fact.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';

/** What is asked of every replay of a session: made once, since all presets are asked the same. */
export interface SessionFacts {
  readonly pool: readonly PooledFact[];
  readonly search: RecallSearch;
  /** Facts asked for at most. */
  readonly size: number;
}

export function prepareFacts(session: LabSession, of: { readonly seed: number; readonly size: number }): SessionFacts {
  const pool = poolFacts(session, of.seed);
  return {
    pool,
    search: new RecallSearch(
      session,
      pool.map((fact) => fact.cue),
    ),
    size: of.size,
  };
}

/** The figures of one view, and what they would be without its summaries and without recall. */
export interface SurvivalFigures extends FactFigures {
  readonly withoutSummaries: FactFigures;
  readonly withoutRecall: FactFigures;
}

export function survivalNow(
  agent: LabAgent,
  conversation: LabConversation,
  { pool, search, size }: SessionFacts,
): SurvivalFigures {
  const facts = sampleFacts(pool, isDropped(conversation), size);
  const view = projectView(conversation.projectionInput(agent));
  const found = new Map<PooledFact, boolean>();
  const recall = (fact: PooledFact, shown: View): boolean => {
    const known = found.get(fact);
    if (known !== undefined) return known;
    const passages = search.search(fact.cue);
    const isFound =
      passages.some((text) => saysFact(searchedText(text, false), fact)) || standsBehindId(conversation, fact, shown);
    found.set(fact, isFound);
    return isFound;
  };
  return {
    ...countSurvivors(facts, view, recall),
    withoutSummaries: countSurvivors(facts, withoutSummaries(view), recall),
    withoutRecall: countSurvivors(facts, view, null),
  };
}

/** Share of the facts of dropped originals that the view still says, right after a pass. */
export function shareInView(
  agent: LabAgent,
  conversation: LabConversation,
  { pool, size }: SessionFacts,
): { readonly facts: number; readonly inView: number } {
  const facts = sampleFacts(pool, isDropped(conversation), size);
  const { inView } = countSurvivors(facts, projectView(conversation.projectionInput(agent)), null);
  return { facts: facts.length, inView };
}

/** Whether an entry of the session that came before now is not in the view, or not as it was. */
function isDropped(conversation: LabConversation): (position: number) => boolean {
  const operations = operationsByEntry(conversation.operationsInForce());
  const { firstUserMessage, olderUserMessages, kept } = arrangeView({
    entries: conversation.scope(),
    summary: conversation.summary,
    operations,
  });
  const whole = new Set<number>();
  const first = firstUserMessage === null ? [] : [firstUserMessage];
  for (const entry of [...first, ...olderUserMessages, ...kept]) {
    const position = conversation.positionOf(entry);
    if (position !== null && !operations.has(entry.id)) whole.add(position);
  }
  return (position) => position < conversation.appended && !whole.has(position);
}

/** The view names an entry (a clipped or cleared one says how to get it back), and its original says the fact. */
function standsBehindId(conversation: LabConversation, fact: PooledFact, view: View): boolean {
  const positions = new Set(fact.sources);
  return conversation.operationsInForce().some(({ entryId }) => {
    const entry = conversation.entryById(entryId);
    const position = entry === undefined ? null : conversation.positionOf(entry);
    return position !== null && positions.has(position) && namesId(view, entryId);
  });
}

function namesId(view: View, id: string): boolean {
  return view.messages.some((message) =>
    message.role === 'tool_results'
      ? message.results.some((result) => entryText(result.content).includes(id))
      : entryText(message.content).includes(id),
  );
}

/** Results in the view without their call, and calls of the view that a result does not follow at once. */
export function countOrphans(agent: LabAgent, conversation: LabConversation): number {
  const input = conversation.projectionInput(agent);
  const arrangement = arrangeView({ ...input, operations: operationsByEntry(input.operations) });
  const strays = groupEntries(arrangement.kept).filter((group) => group.kind === 'orphan_result').length;
  const { messages } = projectView(input);
  let unpaired = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool_results') continue;
    const before = messages[index - 1];
    const calls = before?.role === 'assistant' ? before.content.filter((part) => part.type === 'tool_call') : [];
    const ids = new Set(calls.map((call) => call.id));
    unpaired += message.results.filter((result) => !ids.has(result.id)).length;
  }
  return strays + unpaired;
}
