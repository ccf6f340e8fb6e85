import { estimateTokens, NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import { groupEntries } from 'holdfast/internal/context/log/groups.js';
import { projectView } from 'holdfast/internal/context/view/project-view.js';
import type { View } from 'holdfast/internal/context/view/view.js';
import { arrangeView, operationsByEntry } from 'holdfast/internal/context/view/view-arrangement.js';
import { entryText } from 'holdfast/internal/store/log/entry-text.js';
import { poolFacts, sampleFacts } from '../facts/fact-pool.ts';
import type { PooledFact } from '../facts/fact-pool.ts';
import { countSurvivors, withoutSummaries } from '../facts/fact-survival.ts';
import type { FactFigures } from '../facts/fact-survival.ts';
import { RecallSearch } from '../facts/recall-search.ts';
import type { LabSession } from '../session/lab-session.ts';
import { searchedText, saysFact } from 'holdfast/internal/verify/audit/find-fact.js';
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
  /** Results that are no longer shown as they were, and how many of them the view names by an id that opens them. */
  readonly leftResults: { readonly all: number; readonly named: number };
  /** Messages of the user so far, and how many of them the view shows word for word. */
  readonly userMessages: { readonly all: number; readonly whole: number };
  readonly withoutSummaries: FactFigures;
  readonly withoutRecall: FactFigures;
}

export function survivalNow(
  agent: LabAgent,
  conversation: LabConversation,
  { pool, search, size }: SessionFacts,
): SurvivalFigures {
  const dropped = isDropped(conversation);
  const facts = sampleFacts(pool, isOld(agent, conversation), size);
  const view = projectView(conversation.projectionInput(agent));
  const found = new Map<PooledFact, boolean>();
  const isFound = (fact: PooledFact): boolean => {
    const known = found.get(fact) ?? search.search(fact.cue).some((text) => saysFact(searchedText(text, false), fact));
    found.set(fact, known);
    return known;
  };
  const recallFrom = (shown: View) => {
    const named = namedPositions(conversation, shown);
    return (fact: PooledFact): boolean => isFound(fact) || fact.sources.some((position) => named.has(position));
  };
  const emptied = withoutSummaries(view);
  return {
    ...countSurvivors(facts, view, recallFrom(view)),
    leftResults: countLeft(conversation, dropped, namedPositions(conversation, view)),
    userMessages: countUserMessages(conversation, dropped),
    withoutSummaries: countSurvivors(facts, emptied, recallFrom(emptied)),
    withoutRecall: countSurvivors(facts, view, null),
  };
}

/** Share of the facts that the view says, right after a pass. */
export function shareInView(
  agent: LabAgent,
  conversation: LabConversation,
  { pool, size }: SessionFacts,
): { readonly facts: number; readonly inView: number } {
  const facts = sampleFacts(pool, isOld(agent, conversation), size);
  const { inView } = countSurvivors(facts, projectView(conversation.projectionInput(agent)), null);
  return { facts: facts.length, inView };
}

/** Whether an entry of the session is older than the newest ones that take half a window: the same under every preset. */
function isOld({ limits }: LabAgent, conversation: LabConversation): (position: number) => boolean {
  let left = limits.window / 2;
  let border = 0;
  for (const entry of conversation.entries.toReversed()) {
    left -= estimateTokens(entry.measurements, NO_CALIBRATION);
    border = conversation.positionOf(entry) ?? border;
    if (left < 0) break;
  }
  return (position) => position < border;
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

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Positions in the session of entries that the view names by id: a clipped or cleared one, or one in the ledger, can be opened. */
function namedPositions(conversation: LabConversation, view: View): ReadonlySet<number> {
  const texts = view.messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map((result) => entryText(result.content))
      : [entryText(message.content)],
  );
  const ids = new Set(texts.flatMap((text) => text.match(ID) ?? []));
  const positions = [...ids].flatMap((id) => {
    const entry = conversation.entryById(id);
    const position = entry === undefined ? null : conversation.positionOf(entry);
    return position === null ? [] : [position];
  });
  return new Set(positions);
}

function positionsOf(conversation: LabConversation, kind: 'tool_result' | 'user'): number[] {
  return conversation.entries.flatMap((entry) => {
    const position = entry.kind === kind ? conversation.positionOf(entry) : null;
    return position === null ? [] : [position];
  });
}

function countLeft(
  conversation: LabConversation,
  dropped: (position: number) => boolean,
  named: ReadonlySet<number>,
): SurvivalFigures['leftResults'] {
  const left = positionsOf(conversation, 'tool_result').filter(dropped);
  return { all: left.length, named: left.filter((position) => named.has(position)).length };
}

function countUserMessages(
  conversation: LabConversation,
  dropped: (position: number) => boolean,
): SurvivalFigures['userMessages'] {
  const said = positionsOf(conversation, 'user');
  return { all: said.length, whole: said.filter((position) => !dropped(position)).length };
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
