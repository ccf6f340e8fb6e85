import { continuationContent, continuationWords } from '../view/continuation.ts';
import { policyTokens } from '../view/count-request.ts';
import type { EntryOutline } from '../log/entry.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { groupItems } from '../log/groups.ts';
import type { Group } from '../log/groups.ts';
import { measureContent } from '../log/measure.ts';
import { isOverMessageCap } from './message-cap.ts';
import type { Measurements } from '../log/measurements.ts';
import { OutlineTable } from '../log/outline-table.ts';
import type { CompactionForm, CompactionPlan, Operation, PlanInput } from './plan.ts';
import { arrangeItems, operationsByEntry } from '../view/view-arrangement.ts';
import type { OperationsInForce, ViewArrangement } from '../view/view-arrangement.ts';

/** All that the forms of a plan are computed from. Entries are positions of the table. Token numbers are unrounded. */
export interface PlanningState {
  readonly input: PlanInput;
  readonly table: OutlineTable;
  /** What each entry takes as it is stored. */
  readonly storedTokens: readonly number[];
  readonly inForce: OperationsInForce;
  readonly arrangement: ViewArrangement<number>;
  /** Visible notes but the rules, oldest first. */
  readonly notes: readonly number[];
  /** Groups of the kept part. */
  readonly groups: readonly Group<number>[];
  /** System prompt, rules and tool schemas: no pass can shrink it. */
  readonly fixedTokens: number;
  readonly summaryTokens: number;
  /** The whole view as it is now. */
  readonly tokens: number;
  /** The view has more messages than its server takes: only a form that drops some helps. */
  readonly isOverMessageCap: boolean;
  /** Messages and results that the view shows. */
  readonly entriesInView: number;
  /** Whether the pass ends with a continuation note, and what the note takes. */
  readonly continuation: boolean;
  readonly continuationTokens: number;
  /** The running turn has taken a step and goes on. */
  readonly insideTurn: boolean;
  /** The oldest user message that the view can show; `null` when there is none. */
  readonly firstUserMessage: number | null;
  /** The newest assistant entry; what follows it no request has carried yet. -1 when there is none. */
  readonly seenThrough: number;
}

export function planningState(input: PlanInput): PlanningState {
  const table = new OutlineTable(input.entries);
  const outlineOf = (position: number): EntryOutline => table.at(position);
  const inForce = operationsByEntry(input.operations);
  const positions = input.entries.map((_, position) => position);
  const arrangement = arrangeItems(positions, outlineOf, { summary: input.summary, operations: inForce });
  const { rules, firstUserMessage: first, carriedNotes, olderUserMessages, kept } = arrangement;
  const tokensOf = (measurements: Measurements): number => calibratedTokens(measurements, input.calibration);
  const storedTokens = input.entries.map(({ measurements }) => tokensOf(measurements));
  const older = [...(first === null ? [] : [first]), ...olderUserMessages];
  const visible = countShown([...carriedNotes, ...older, ...kept], { table, storedTokens, inForce, tokensOf });
  const ofRules = countShown(rules === null ? [] : [rules], { table, storedTokens, inForce, tokensOf });
  const fixedTokens = tokensOf(input.fixed) + ofRules.tokens;
  const summaryTokens = input.summary === null ? 0 : tokensOf(input.summary.measurements);
  const insideTurn = isInsideTurn(input);
  const continuation = wantsContinuation(input, insideTurn);
  return {
    input,
    table,
    storedTokens,
    inForce,
    arrangement,
    notes: [...carriedNotes, ...kept.filter((position) => table.at(position).kind === 'note')],
    groups: groupItems(kept, outlineOf),
    fixedTokens,
    summaryTokens,
    tokens: fixedTokens + summaryTokens + visible.tokens,
    isOverMessageCap: isOverMessageCap(input.budget, {
      frames: visible.frames + (input.summary?.measurements.frames ?? 0),
    }),
    entriesInView: visible.messages,
    continuation,
    continuationTokens: continuation ? continuationTokens(input) : 0,
    insideTurn,
    firstUserMessage: positions.find((position) => table.at(position).kind === 'user') ?? null,
    seenThrough: input.entries.findLastIndex(({ kind }) => kind === 'assistant'),
  };
}

/** What entries take as they are shown, how many frames they have, and how many of them are no notes. */
function countShown(
  positions: readonly number[],
  of: Pick<PlanningState, 'table' | 'storedTokens' | 'inForce'> & {
    readonly tokensOf: (measurements: Measurements) => number;
  },
): { readonly tokens: number; readonly frames: number; readonly messages: number } {
  const shown = { tokens: 0, frames: 0, messages: 0 };
  for (const position of positions) {
    const { id, kind, measurements } = of.table.at(position);
    const operation = operationAt(of.inForce, id);
    shown.tokens += operation === undefined ? (of.storedTokens[position] ?? 0) : of.tokensOf(operation.measurements);
    shown.frames += measurements.frames;
    if (kind !== 'note') shown.messages += 1;
  }
  return shown;
}

/** Whichever form succeeds in the end, its note fits. */
function continuationTokens({ policy, calibration }: PlanInput): number {
  const forms = ['summary', 'extractive_summary', 'clip_only'] as const;
  const notes = forms.map((form) => continuationContent(continuationWords(policy, form), { recall: true }));
  return Math.max(...notes.map((note) => calibratedTokens(measureContent(note), calibration)));
}

/** Tokens of a measurement by the calibrated estimate, unrounded. */
export function tokensOf(state: PlanningState, measurements: Measurements): number {
  return calibratedTokens(measurements, state.input.calibration);
}

function isInsideTurn({ turnId, turnIsOver, entries }: PlanInput): boolean {
  return turnIsOver !== true && entries.some((entry) => entry.kind === 'assistant' && entry.turnId === turnId);
}

/** More notes in a row than this, without a new tool result between them, make a loop (R6). */
const CONTINUATIONS_IN_A_ROW = 3;

/**
 * A model takes a shortened context for the end of its work and stops early (W4), but one that has
 * waited for its user must go on waiting (R15): inside a turn, only after a step of the running one.
 */
function wantsContinuation(input: PlanInput, insideTurn: boolean): boolean {
  if (input.turnIsOver === true || continuationsInARow(input) >= CONTINUATIONS_IN_A_ROW) return false;
  switch (input.policy.continuation) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'automatic':
      return input.reason !== 'manual' && insideTurn;
    case 'inside_turn':
      return insideTurn;
  }
}

function continuationsInARow({ entries, limitNoteIds }: PlanInput): number {
  const last = entries.findLastIndex(({ kind }) => kind === 'tool_result' || kind === 'user');
  return entries.slice(last + 1).filter(({ id, slot }) => slot === 'continuation' && limitNoteIds?.has(id) !== true)
    .length;
}

/** A plan before it was held against target and minimum gain. */
export type DraftedPlan = Omit<CompactionPlan, 'acceptedTokens' | 'requiredGain'>;

/** What a form leads to. Without others it drops nothing and writes no summary. */
export function draftedPlan(
  state: PlanningState,
  form: CompactionForm,
  draft: Draft,
  others: Partial<DraftedPlan>,
): DraftedPlan {
  return {
    form,
    firstKeptSequence: null,
    opensWithMarker: false,
    keptFromMarker: false,
    splitTurn: false,
    coveredThroughSequence: null,
    droppedMessages: 0,
    keptSequences: state.input.summary?.keptSequences ?? [],
    operations: [...draft.operations.values()],
    parts: [],
    summaryLimit: 0,
    entriesInView: state.entriesInView,
    continuation: state.continuation,
    insideTurn: state.insideTurn,
    turnIsOver: state.input.turnIsOver === true,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
    ...others,
  };
}

/** Changes that a form makes to the kept entries, with the tokens of the view as they go. */
export interface Draft {
  readonly operations: Map<number, Operation>;
  tokens: number;
}

export function operationOn(state: PlanningState, draft: Draft, position: number): Operation | undefined {
  const drafted = operationAt(draft.operations, position);
  if (drafted !== undefined || state.inForce.size === 0) return drafted;
  return state.inForce.get(state.table.at(position).id);
}

/** Looking up 50,000 keys in an empty map takes longer than planning the rest. */
function operationAt<Key>(operations: ReadonlyMap<Key, Operation>, key: Key): Operation | undefined {
  return operations.size === 0 ? undefined : operations.get(key);
}

export function shownMeasurements(state: PlanningState, draft: Draft, position: number): Measurements {
  return operationOn(state, draft, position)?.measurements ?? state.table.at(position).measurements;
}

/** Tokens of an entry as the draft shows it, by the calibrated estimate, unrounded. */
export function shownTokens(state: PlanningState, draft: Draft, position: number): number {
  const operation = operationOn(state, draft, position);
  return operation === undefined ? (state.storedTokens[position] ?? 0) : tokensOf(state, operation.measurements);
}

export function sumShown(state: PlanningState, draft: Draft, positions: readonly number[]): number {
  return positions.reduce((sum, position) => sum + shownTokens(state, draft, position), 0);
}

/** Tokens of an entry as the draft shows it and the policy counts, unrounded. */
export function countedTokens(state: PlanningState, draft: Draft, position: number): number {
  const { policy, calibration } = state.input;
  if (policy.counting === 'calibrated') return shownTokens(state, draft, position);
  return policyTokens(policy.counting, shownMeasurements(state, draft, position), calibration);
}

/** Adds an operation if it makes the entry smaller; says whether it did. */
export function tryOperation(state: PlanningState, draft: Draft, position: number, operation: Operation): boolean {
  const before = shownTokens(state, draft, position);
  const after = tokensOf(state, operation.measurements);
  if (after >= before) return false;
  draft.operations.set(position, operation);
  draft.tokens += after - before;
  return true;
}

export function isUnseen(state: PlanningState, position: number): boolean {
  return position > state.seenThrough;
}
