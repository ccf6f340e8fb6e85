import fc from 'fast-check';
import { viewAfterCompaction } from '../../../src/context/summary/whole-summary.ts';
import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import type { CompactionPlan, Operation } from '../../../src/context/plan/plan.ts';
import { projectView } from '../../../src/context/view/project-view.ts';
import { commitCompaction } from '../../../src/store/compactions/commit-compaction.ts';
import { storePlan } from '../../../src/store/compactions/compactions.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { readFitCheck, readPlanSource } from '../../../src/store/compactions/fit-check.ts';
import type { PlanSource } from '../../../src/store/compactions/fit-check.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { readProjectionSource } from '../../../src/store/log/view.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { end, go } from './branch-builders.ts';
import { planWithCut } from './compaction-builders.ts';
import { answer, begin, continueConversation, finishToolCall, headOf, send, text } from './store-builders.ts';

/** A conversation that grows by random actions, with what was seen by each model call. */
export interface Growth {
  turn: TurnReference;
  callNumber: number;
  readonly seen: { turnId: string; callNumber: number; view: string }[];
}

async function view(sql: Database, turn: TurnReference): Promise<string> {
  const headEntryId = await headOf(sql, turn.conversationId);
  // As a step reads it: what the step before has read is not read again.
  const known = await readFitCheck(sql, turn);
  return JSON.stringify(projectView((await readProjectionSource(sql, { turn, headEntryId, known })).input));
}

async function ask(sql: Database, growth: Growth, calls: number): Promise<void> {
  growth.callNumber += 1;
  const { turn, callNumber } = growth;
  growth.seen.push({ turnId: turn.turnId, callNumber, view: await view(sql, turn) });
  await answer(sql, turn, callNumber, { calls, said: `answer number ${callNumber}`, thinking: 'hm' });
  for (let index = 0; index < calls; index += 1) {
    const plan = index === 1 ? { plan: text(`plan of call ${callNumber}`) } : {};
    // Long enough that clearing it makes it smaller.
    await finishToolCall(sql, turn, callNumber, index, { ...text(`result ${'of many words '.repeat(50)}`), ...plan });
  }
}

async function nextTurn(sql: Database, growth: Growth, rules: string): Promise<void> {
  const { conversationId } = growth.turn;
  await end(sql, growth.turn);
  await send(sql, { conversationId, ...text(`message under ${rules}`) });
  const begun = await begin(sql, conversationId, { rules: rules === '' ? null : text(rules) });
  if (begun.kind !== 'begun') throw new Error('nothing waited');
  growth.turn = begun.turn;
  growth.callNumber = 0;
}

async function fork(sql: Database, growth: Growth, where: number): Promise<void> {
  const { conversationId } = growth.turn;
  const entries = await listEntries(sql, { conversationId });
  await end(sql, growth.turn);
  const entry = entries[Math.floor(where * entries.length)];
  await go(sql, conversationId, { entryId: entry?.id ?? null, summarizes: false });
  await goOn(sql, growth);
}

async function switchBranch(sql: Database, growth: Growth, where: number): Promise<void> {
  const { conversationId } = growth.turn;
  await end(sql, growth.turn);
  const [row] = await sql<{ branches: number }[]>`
    select count(distinct branch)::int as branches from branches where conversation_id = ${conversationId}`;
  await go(sql, conversationId, { branch: Math.floor(where * (row?.branches ?? 0)), summarizes: false });
  await goOn(sql, growth);
}

/** The next turn after a change of branch. */
async function goOn(sql: Database, growth: Growth): Promise<void> {
  const { conversationId } = growth.turn;
  await send(sql, { conversationId, ...text('on this branch') });
  growth.turn = await continueConversation(sql, conversationId);
  growth.callNumber = 0;
}

/** Starts of groups after the present cut, where a cut may fall. */
function possibleCuts({ entries, summary }: PlanSource): number[] {
  const from = summary?.firstKeptSequence ?? 1;
  return [...entries]
    .filter(({ kind, sequence }) => sequence > from && kind !== 'tool_result' && kind !== 'note')
    .map(({ sequence }) => sequence);
}

/** The newest entry of the path before a cut; on a branch it need not be the one that is numbered before it. */
function lastBefore({ entries }: PlanSource, cut: number): number {
  return [...entries].findLast(({ sequence }) => sequence < cut)?.sequence ?? 0;
}

/** Cuts at a place chosen by `where`, keeps every other user message, clears every third kept result. */
async function compact(sql: Database, growth: Growth, where: number): Promise<void> {
  const { turn } = growth;
  const source = await readPlanSource(sql, turn);
  const cuts = possibleCuts(source);
  const cut = cuts[Math.floor(where * cuts.length)] ?? null;
  const keptSequences = [...source.entries]
    .filter(({ kind, sequence }) => cut !== null && kind === 'user' && sequence < cut && sequence % 2 === 0)
    .map(({ sequence }) => sequence);
  const operations = [...source.entries]
    .filter(({ kind, sequence }) => kind === 'tool_result' && sequence >= (cut ?? 0) && sequence % 3 === 0)
    .map(({ id }): Operation => ({ entryId: id, kind: 'clear', measurements: { ...NO_MEASUREMENTS, letters: 2 } }));
  const plan: CompactionPlan =
    cut === null
      ? planWithCut(1, { firstKeptSequence: null, coveredThroughSequence: null, parts: [], operations })
      : planWithCut(cut, { operations, keptSequences, coveredThroughSequence: lastBefore(source, cut) });
  const compactionId = newId();
  const { headEntryId } = source;
  await storePlan(sql, {
    turn,
    callNumber: 1,
    compactionId,
    plan,
    reason: 'threshold',
    preset: 'default',
    headEntryId,
  });
  const measurements = { ...NO_MEASUREMENTS, letters: 30 };
  await commitCompaction(sql, {
    turn,
    compactionId,
    summary:
      cut === null
        ? null
        : {
            text: `summary through ${cut}`,
            measurements,
            files: { read: [], modified: [] },
            model: null,
            promptVersion: '1',
          },
    viewAfter: viewAfterCompaction(
      { ...source, fixed: NO_MEASUREMENTS },
      plan,
      compactionId,
      cut === null ? null : measurements,
    ),
    tokensAfter: 10,
    continuation: where > 0.5 ? text('go on') : null,
  });
}

export type Action =
  | { readonly kind: 'ask'; readonly calls: number }
  | { readonly kind: 'steer' }
  | { readonly kind: 'compact'; readonly where: number }
  | { readonly kind: 'turn'; readonly rules: string }
  /** Goes on from one of its entries. */
  | { readonly kind: 'fork'; readonly where: number }
  /** Goes on with one of its branches. */
  | { readonly kind: 'switch'; readonly where: number };

export const ACTION: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask' as const), calls: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('steer' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('compact' as const),
      where: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('turn' as const), rules: fc.constantFrom('', 'be kind', 'be brief') }),
  },
);

/** The same with forks and switches. */
export const ACTION_ON_BRANCHES: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: ACTION },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('fork' as const, 'switch' as const),
      where: fc.double({ min: 0, max: 0.999, noNaN: true }),
    }),
  },
);

export async function act(sql: Database, growth: Growth, action: Action): Promise<void> {
  switch (action.kind) {
    case 'ask':
      return ask(sql, growth, action.calls);
    case 'compact':
      return compact(sql, growth, action.where);
    case 'turn':
      return nextTurn(sql, growth, action.rules);
    case 'fork':
      return fork(sql, growth, action.where);
    case 'switch':
      return switchBranch(sql, growth, action.where);
    case 'steer':
      await send(sql, { conversationId: growth.turn.conversationId, ...text('by the way') });
      await takeMessages(sql, growth.turn);
  }
}
