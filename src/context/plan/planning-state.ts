import { continuationContent } from '../view/notes.ts';
import { policyTokens } from '../policy/budget.ts';
import { textOf } from '../log/content.ts';
import { calibratedColumn, calibratedTokens } from '../log/estimate.ts';
import { outlineTable } from '../log/outline-table.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import { measureContent } from '../log/measure.ts';
import { showsMedia } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import { clipOperation, stripOperation } from '../log/operations.ts';
import type { CompactionForm, CompactionPlan, Operation, PlanInput } from './plan.ts';
import { arrangePositions, operationsByPosition, visiblePositions } from '../view/view-arrangement.ts';
import type { Arranged, OperationsInForce } from '../view/view-arrangement.ts';

/** All that the forms of a plan are computed from. Entries are positions of the table. Token numbers are unrounded. */
export interface PlanningState {
  readonly input: PlanInput;
  readonly table: OutlineTable;
  /** Of each entry. */
  readonly storedTokens: Float64Array;
  readonly inForce: OperationsInForce;
  readonly arrangement: Arranged<number>;
  /** Visible notes but the rules, oldest first. */
  readonly notes: readonly number[];
  /** System prompt, rules and tool schemas: no pass can shrink it. */
  readonly fixedTokens: number;
  readonly summaryTokens: number;
  /** The whole view as it is now. */
  readonly tokens: number;
  readonly entriesInView: number;
  /** Whether the pass ends with a continuation note, and what the note takes. */
  readonly continuation: boolean;
  readonly continuationTokens: number;
  /** The running turn has taken a step and goes on. */
  readonly insideTurn: boolean;
  /** The oldest user message that the view can show; -1 when there is none. */
  readonly firstUserMessage: number;
  /** The newest assistant entry; what follows it no request has carried yet. -1 when there is none. */
  readonly seenThrough: number;
}

export function planningState(input: PlanInput): PlanningState {
  const { operations, summary } = input;
  const table = outlineTable(input.entries);
  const inForce = operationsByPosition(table, operations);
  const arrangement = arrangePositions(table, { summary, operations: inForce });
  const { rules, carriedNotes, keptNotes } = arrangement;
  const tokensOf = (measurements: Measurements): number => calibratedTokens(measurements, input.calibration);
  const storedTokens = calibratedColumn(table.columns.measurements, input.calibration);
  const shown = (position: number): number => {
    const operation = operationAt(inForce, position);
    return operation === undefined ? (storedTokens[position] ?? 0) : tokensOf(operation.measurements);
  };
  const notes = [...carriedNotes, ...keptNotes];
  const fixedTokens = tokensOf(input.fixed) + (rules === null ? 0 : shown(rules));
  const summaryTokens = summary === null ? 0 : tokensOf(summary.measurements);
  let tokens = fixedTokens + summaryTokens;
  let entriesInView = -notes.length;
  for (const positions of visiblePositions(arrangement)) {
    for (const position of positions) tokens += shown(position);
    entriesInView += positions.length;
  }
  const insideTurn = isInsideTurn(input, table);
  const continuation = wantsContinuation(input, insideTurn);
  return {
    input,
    table,
    storedTokens,
    inForce,
    arrangement,
    notes,
    fixedTokens,
    summaryTokens,
    tokens,
    entriesInView,
    continuation,
    continuationTokens: continuation ? continuationTokens(input) : 0,
    insideTurn,
    firstUserMessage: table.first((position) => table.kindAt(position) === 'user'),
    seenThrough: table.newest((position) => table.kindAt(position) === 'assistant'),
  };
}

/** Whichever form succeeds in the end, its note fits. */
function continuationTokens({ policy, calibration }: PlanInput): number {
  const forms = ['summary', 'extractive_summary', 'clip_only'] as const;
  const texts = new Set(forms.map((form) => textOf(continuationContent(policy, form, { recall: true }))));
  const notes = Array.from(texts, (text) => measureContent([{ type: 'text', text }]));
  return Math.max(...notes.map((note) => calibratedTokens(note, calibration)));
}

function isInsideTurn({ turnId, turnIsOver }: PlanInput, table: OutlineTable): boolean {
  if (turnIsOver === true) return false;
  return table.newest((at) => table.kindAt(at) === 'assistant' && table.at(at).turnId === turnId) !== -1;
}

/**
 * A model takes a shortened context for the end of its work and stops early (W4), but one that has
 * waited for its user must go on waiting (R15): inside a turn, only after a step of the running one.
 */
function wantsContinuation({ policy, reason, turnIsOver }: PlanInput, insideTurn: boolean): boolean {
  const { continuation } = policy;
  if (turnIsOver === true || continuation === 'never') return false;
  return continuation === 'always' || (insideTurn && (continuation === 'inside_turn' || reason !== 'manual'));
}

/** In tokens of the whole view. */
export interface Goals {
  /** What the pass aims for. */
  readonly goal: number;
  /** What it may leave. */
  readonly limit: number;
}

/** A plan before it was held against target and minimum gain. */
export type DraftedPlan = Omit<CompactionPlan, 'acceptedTokens' | 'requiredGain'>;

/** Drops nothing, changes nothing and writes no summary. */
export const NOTHING_PLANNED = {
  firstKeptSequence: null,
  opensWithMarker: false,
  keptFromMarker: false,
  coveredThroughSequence: null,
  droppedMessages: 0,
  keptSequences: [],
  operations: [],
  parts: [],
  summaryLimit: 0,
  continuation: false,
  insideTurn: false,
  turnIsOver: false,
} as const;

/** What a form leads to. Without others it drops nothing and writes no summary. */
export function draftedPlan(draft: Draft, form: CompactionForm, others: Partial<DraftedPlan>): DraftedPlan {
  const { state } = draft;
  return {
    ...NOTHING_PLANNED,
    form,
    keptSequences: state.input.summary?.keptSequences ?? [],
    operations: [...draft.operations.values()],
    entriesInView: state.entriesInView,
    continuation: state.continuation,
    insideTurn: state.insideTurn,
    turnIsOver: state.input.turnIsOver === true,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
    ...others,
  };
}

/** Changes that a form makes to the kept entries, with the tokens of the view as they go. Token numbers are unrounded. */
export class Draft {
  readonly state: PlanningState;
  readonly operations = new Map<number, Operation>();
  tokens: number;

  constructor(state: PlanningState, tokens: number) {
    this.state = state;
    this.tokens = tokens;
  }

  operationOn(position: number): Operation | undefined {
    return operationAt(this.operations, position) ?? operationAt(this.state.inForce, position);
  }

  measurementsOf(position: number): Measurements {
    return this.operationOn(position)?.measurements ?? this.state.table.at(position).measurements;
  }

  /** Of an entry as the draft shows it, by the calibrated estimate. */
  tokensOf(position: number): number {
    const operation = this.operationOn(position);
    if (operation === undefined) return this.state.storedTokens[position] ?? 0;
    return calibratedTokens(operation.measurements, this.state.input.calibration);
  }

  /** Of an entry as the draft shows it and the policy counts. */
  countedTokens(position: number): number {
    const { policy, calibration } = this.state.input;
    if (policy.counting === 'calibrated') return this.tokensOf(position);
    return policyTokens(policy.counting, this.measurementsOf(position), calibration);
  }

  sum(positions: readonly number[]): number {
    let sum = 0;
    for (const position of positions) sum += this.tokensOf(position);
    return sum;
  }

  /** Adds an operation if it makes the entry smaller; says whether it did. */
  change(position: number, operation: Operation): boolean {
    const gain = this.tokensOf(position) - calibratedTokens(operation.measurements, this.state.input.calibration);
    if (gain <= 0) return false;
    this.operations.set(position, operation);
    this.tokens -= gain;
    return true;
  }

  /** Replaces images and files by markers; an entry that is clipped already stays clipped. */
  strip(position: number): void {
    if (!showsMedia(this.measurementsOf(position))) return;
    const entry = this.state.table.at(position);
    const clip = this.operationOn(position);
    const isClipped = clip?.kind === 'clip';
    const size = { head: clip?.headCharacters ?? 0, tail: clip?.tailCharacters ?? 0 };
    this.change(position, isClipped ? clipOperation(entry, size) : stripOperation(entry));
  }
}

/** Looking up 50,000 positions in an empty map takes longer than planning the rest. */
function operationAt(operations: OperationsInForce, position: number): Operation | undefined {
  return operations.size === 0 ? undefined : operations.get(position);
}

export function isUnseen(state: PlanningState, position: number): boolean {
  return position > state.seenThrough;
}

/**
 * Tokens that a compaction must free: a share of the window (R5), in the policy's own tokens, so that one which reaches the policy's
 * target wins enough whatever the policy counts by. One that the user asked for only has to be smaller.
 */
export function requiredGain(state: PlanningState): number {
  const { budget, policy, reason, counted } = state.input;
  if (reason === 'manual') return 1;
  const base =
    reason === 'overflow'
      ? Math.min(budget.window, state.tokens)
      : budget.window * Math.min(1, counted?.calibratedPerToken ?? 1);
  return Math.max(1, Math.ceil(policy.minimumGain * base));
}
