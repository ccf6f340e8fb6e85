import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { PlannedCompaction, RequestDecisionsResult, TurnFacts, ViewReference } from '../turn/activity-values.ts';
import type { TurnProgress } from '../turn/progress.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/temporal-names.ts';
import type { TurnState } from '../turn/turn-reference.ts';

/** What the Temporal UI shows of a turn: names, ids and counts only. */
export type TurnDisplay = ReturnType<typeof showTurn>;

const numberFormat = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

function waitWords(approvals: number, questions: number): string {
  const parts = [
    ...(approvals === 0
      ? []
      : [approvals === 1 ? 'the approval of a tool call' : `the approval of ${approvals} tool calls`]),
    ...(questions === 0 ? [] : [questions === 1 ? 'an answer' : `${questions} answers`]),
  ];
  return `waiting for ${parts.join(' and ')} of the user`;
}

function windowWords(tokens: number, { window }: TurnFacts): string {
  return `${numberFormat(tokens)} of ${numberFormat(window)} tokens`;
}

function setSearchAttributes({ turn, settings: { facts } }: TurnProgress, state: TurnState): void {
  upsertSearchAttributes([
    { key: CONVERSATION_ATTRIBUTE, value: turn.conversationId },
    { key: AGENT_ATTRIBUTE, value: facts.agent },
    { key: MODEL_ATTRIBUTE, value: facts.model },
    { key: TURN_STATE_ATTRIBUTE, value: state },
  ]);
}

function detailsTable(
  { turn, settings: { facts }, steps, compactions }: TurnProgress,
  { tokens, cost, now }: { readonly tokens: number | null; readonly cost: number | null; readonly now: string },
): string {
  const rows: [string, string][] = [
    ['turn', turn.turnId],
    ['agent', facts.agent],
    ['model', facts.model],
    ['preset', facts.preset],
    ['step', String(steps + 1)],
    ['window', tokens === null ? '–' : windowWords(tokens, facts)],
    ['compactions', String(compactions)],
    ['cost', cost === null ? 'unknown' : `$${cost.toFixed(4)}`],
    ['now', now],
  ];
  return `| | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}`;
}

/**
 * Sets the search attributes of this run.
 * @returns the writers of its current details
 */
export function showTurn(progress: TurnProgress) {
  let state: TurnState = 'running';
  let tokens: number | null = null;
  let cost: number | null = null;
  /** What the turn does now, also while it waits. */
  let doing = 'beginning';
  setSearchAttributes(progress, state);
  const show = (now: string): void => setCurrentDetails(detailsTable(progress, { tokens, cost, now }));
  // Each upsert costs a command and an event, so only a change of state makes one.
  const enter = (next: TurnState): void => {
    if (next === state) return;
    state = next;
    upsertSearchAttributes([{ key: TURN_STATE_ATTRIBUTE, value: state }]);
  };
  const now = (words: string): void => {
    doing = words;
    show(doing);
  };
  show(doing);
  return {
    /** Names of activities in the list of the UI. */
    checkSummary: () => `step ${progress.steps + 1}`,
    callSummary: (view: ViewReference) =>
      `step ${progress.steps + 1} · ${windowWords(view.tokens, progress.settings.facts)}`,
    commitSummary: (planned: PlannedCompaction) => `compaction of ${numberFormat(planned.tokensBefore)} tokens`,
    running: () => {
      enter('running');
      show(doing);
    },
    waitingForPeople: ({ waiting, questions }: RequestDecisionsResult) => {
      enter(questions === waiting ? 'waiting_for_answer' : 'waiting_for_approval');
      show(waitWords(waiting - questions, questions));
    },
    calling: (view: ViewReference) => {
      tokens = view.tokens;
      now('calling the model');
    },
    runningTools: (count: number) => now(count === 1 ? 'running a tool' : `running ${count} tools`),
    compacting: (planned: PlannedCompaction) => {
      tokens = planned.tokensBefore;
      now('compacting the context');
    },
    ended: (outcome: string) => {
      upsertSearchAttributes([{ key: TURN_STATE_ATTRIBUTE, value: outcome }]);
      show(outcome);
    },
    modelChanged: () => upsertSearchAttributes([{ key: MODEL_ATTRIBUTE, value: progress.settings.facts.model }]),
    setCost: (dollars: number | null) => {
      cost = dollars;
    },
  };
}

/** Temporal never encrypts search attributes, so they hold ids and names only. */
const CONVERSATION_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.conversation, 'KEYWORD');
const AGENT_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.agent, 'KEYWORD');
const MODEL_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.model, 'KEYWORD');
const TURN_STATE_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.turnState, 'KEYWORD');
