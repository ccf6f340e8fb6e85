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
import type { ReplayedConversation, ViewNow } from './replayed-conversation.ts';

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

export async function survivalNow(
  agent: LabAgent,
  conversation: ReplayedConversation,
  { pool, search, size }: SessionFacts,
): Promise<SurvivalFigures> {
  const positions = await conversation.positionsById();
  const dropped = isDropped(conversation, await conversation.view(), positions);
  const facts = sampleFacts(pool, isOld(agent, conversation), size);
  const view = projectView(await conversation.projectionInput());
  const found = new Map<PooledFact, boolean>();
  const isFound = (fact: PooledFact): boolean => {
    const known = found.get(fact) ?? search.search(fact.cue).some((text) => saysFact(searchedText(text, false), fact));
    found.set(fact, known);
    return known;
  };
  const recallFrom = (shown: View) => {
    const named = namedPositions(positions, shown);
    return (fact: PooledFact): boolean => isFound(fact) || fact.sources.some((position) => named.has(position));
  };
  const emptied = withoutSummaries(view);
  const named = namedPositions(positions, view);
  const left = saidPositions(conversation, 'tool_result').filter(dropped);
  const said = saidPositions(conversation, 'user');
  return {
    ...countSurvivors(facts, view, recallFrom(view)),
    leftResults: { all: left.length, named: left.filter((position) => named.has(position)).length },
    userMessages: { all: said.length, whole: said.filter((position) => !dropped(position)).length },
    withoutSummaries: countSurvivors(facts, emptied, recallFrom(emptied)),
    withoutRecall: countSurvivors(facts, view, null),
  };
}

/** Share of the facts that the view says, right after a pass. */
export async function shareInView(
  agent: LabAgent,
  conversation: ReplayedConversation,
  { pool, size }: SessionFacts,
): Promise<{ readonly facts: number; readonly inView: number }> {
  const facts = sampleFacts(pool, isOld(agent, conversation), size);
  if (facts.length === 0) return { facts: 0, inView: 0 };
  const { inView } = countSurvivors(facts, projectView(await conversation.projectionInput()), null);
  return { facts: facts.length, inView };
}

/** Whether an entry of the session is older than the newest ones that take half a window: the same under every preset. */
function isOld({ limits }: LabAgent, { session, appended }: ReplayedConversation): (position: number) => boolean {
  let left = limits.window / 2;
  let border = appended;
  for (const { measurements } of session.entries.slice(0, appended).toReversed()) {
    left -= estimateTokens(measurements, NO_CALIBRATION);
    border -= 1;
    if (left < 0) break;
  }
  return (position) => position < border;
}

/** Whether an entry of the session that came before now is not in the view, or not as it was. */
function isDropped(
  { appended }: ReplayedConversation,
  view: ViewNow,
  positions: ReadonlyMap<string, number>,
): (position: number) => boolean {
  const operations = operationsByEntry(view.operations);
  const { olderUserMessages, kept } = arrangeView(view);
  const whole = new Set(
    [...olderUserMessages, ...kept].flatMap(({ id }) => (operations.has(id) ? [] : (positions.get(id) ?? []))),
  );
  return (position) => position < appended && !whole.has(position);
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Positions in the session of entries that the view names by id: a clipped or cleared one, or one in the ledger, can be opened. */
function namedPositions(positions: ReadonlyMap<string, number>, view: View): ReadonlySet<number> {
  const texts = view.messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map((result) => entryText(result.content))
      : [entryText(message.content)],
  );
  const ids = new Set(texts.flatMap((text) => text.match(ID) ?? []));
  return new Set([...ids].flatMap((id) => positions.get(id) ?? []));
}

function saidPositions({ session, appended }: ReplayedConversation, kind: 'tool_result' | 'user'): number[] {
  return session.entries.slice(0, appended).flatMap((entry, position) => (entry.kind === kind ? [position] : []));
}

/** Results in the view without their call, and calls of the view that a result does not follow at once. */
export async function countOrphans(conversation: ReplayedConversation): Promise<number> {
  const input = await conversation.projectionInput();
  const arrangement = arrangeView(input);
  const strays = groupEntries(arrangement.kept).filter((group) => group.kind === 'tool_result').length;
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
