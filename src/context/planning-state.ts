import { continuationContent, continuationWords } from './continuation.ts';
import { policyTokens } from './count-request.ts';
import type { EntryOutline } from './entry.ts';
import { calibratedTokens } from './estimate.ts';
import { groupEntries } from './groups.ts';
import type { Group } from './groups.ts';
import { measureContent } from './measure.ts';
import { isOverMessageCap } from './message-cap.ts';
import type { Measurements } from './measurements.ts';
import type { CompactionPlan, Operation, PlanInput } from './plan.ts';
import { arrangeView, operationsByEntry } from './view-arrangement.ts';
import type { ViewArrangement } from './view-arrangement.ts';

/** All that the forms of a plan are computed from. Token numbers are unrounded. */
export interface PlanningState {
  readonly input: PlanInput;
  readonly inForce: ReadonlyMap<string, Operation>;
  readonly arrangement: ViewArrangement<EntryOutline>;
  /** Visible notes but the rules, oldest first. */
  readonly notes: readonly EntryOutline[];
  /** Groups of the kept part. */
  readonly groups: readonly Group[];
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
  /** The oldest user message that the view can show; `null` when there is none. */
  readonly firstUserMessage: EntryOutline | null;
  /** Sequence of the newest assistant entry; what follows it no request has carried yet. */
  readonly seenThrough: number;
}

export function planningState(input: PlanInput): PlanningState {
  const inForce = operationsByEntry(input.operations);
  const arrangement = arrangeView({ entries: input.entries, summary: input.summary, operations: inForce });
  const tokensOf = (measurements: Measurements): number => calibratedTokens(measurements, input.calibration);
  const shown = (entries: readonly EntryOutline[]): number => {
    let sum = 0;
    for (const entry of entries) sum += tokensOf(inForceOn(inForce, entry)?.measurements ?? entry.measurements);
    return sum;
  };
  const fixedTokens = tokensOf(input.fixed) + (arrangement.rules === null ? 0 : shown([arrangement.rules]));
  const summaryTokens = input.summary === null ? 0 : tokensOf(input.summary.measurements);
  const first = arrangement.firstUserMessage === null ? [] : [arrangement.firstUserMessage];
  const older = [...first, ...arrangement.olderUserMessages];
  const rest = shown(arrangement.carriedNotes) + shown(older) + shown(arrangement.kept);
  const continuation = wantsContinuation(input);
  return {
    input,
    inForce,
    arrangement,
    notes: [...arrangement.carriedNotes, ...arrangement.kept.filter((entry) => entry.kind === 'note')],
    groups: groupEntries(arrangement.kept),
    fixedTokens,
    summaryTokens,
    tokens: fixedTokens + summaryTokens + rest,
    isOverMessageCap: isOverMessageCap(input.budget, {
      frames: [...arrangement.carriedNotes, ...older, ...arrangement.kept].reduce(
        (sum, entry) => sum + entry.measurements.frames,
        input.summary?.measurements.frames ?? 0,
      ),
    }),
    entriesInView: [...older, ...arrangement.kept].filter((entry) => entry.kind !== 'note').length,
    continuation,
    continuationTokens: continuation ? continuationTokens(input) : 0,
    firstUserMessage: input.entries.find((entry) => entry.kind === 'user') ?? null,
    seenThrough: input.entries.findLast((entry) => entry.kind === 'assistant')?.sequence ?? -Infinity,
  };
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

/** Tokens of a measurement as the policy counts them, unrounded. */
export function countedTokens({ input }: PlanningState, measurements: Measurements): number {
  return policyTokens(input.policy.counting, measurements, input.calibration);
}

/** Whether the running turn has taken a step and goes on. */
export function isInsideTurn({ entries, turnId, turnIsOver }: PlanInput): boolean {
  return turnIsOver !== true && entries.some((entry) => entry.kind === 'assistant' && entry.turnId === turnId);
}

/** More notes in a row than this, without a new tool result between them, make a loop (R6). */
const CONTINUATIONS_IN_A_ROW = 3;

/**
 * A model takes a shortened context for the end of its work and stops early (W4), but one that has
 * waited for its user must go on waiting (R15): inside a turn, only after a step of the running one.
 */
function wantsContinuation(input: PlanInput): boolean {
  if (input.turnIsOver === true || continuationsInARow(input) >= CONTINUATIONS_IN_A_ROW) return false;
  switch (input.policy.continuation) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'automatic':
      return input.reason !== 'manual' && isInsideTurn(input);
    case 'inside_turn':
      return isInsideTurn(input);
  }
}

function continuationsInARow({ entries }: PlanInput): number {
  const progress = entries.findLastIndex((entry) => entry.kind === 'tool_result' || entry.kind === 'user');
  return entries.slice(progress + 1).filter((entry) => entry.slot === 'continuation').length;
}

/** A plan before it was held against target and minimum gain. */
export type DraftedPlan = Omit<CompactionPlan, 'acceptedTokens' | 'requiredGain'>;

/** Changes that a form makes to the kept entries, with the tokens of the view as they go. */
export interface Draft {
  readonly operations: Map<string, Operation>;
  tokens: number;
}

export function operationOn(state: PlanningState, draft: Draft, entry: EntryOutline): Operation | undefined {
  return inForceOn(draft.operations, entry) ?? inForceOn(state.inForce, entry);
}

/** Looking up 50,000 ids in an empty map takes longer than planning the rest. */
function inForceOn(operations: ReadonlyMap<string, Operation>, entry: EntryOutline): Operation | undefined {
  return operations.size === 0 ? undefined : operations.get(entry.id);
}

export function shownMeasurements(state: PlanningState, draft: Draft, entry: EntryOutline): Measurements {
  return operationOn(state, draft, entry)?.measurements ?? entry.measurements;
}

/** Adds an operation if it makes the entry smaller; says whether it did. */
export function tryOperation(state: PlanningState, draft: Draft, entry: EntryOutline, operation: Operation): boolean {
  const before = tokensOf(state, shownMeasurements(state, draft, entry));
  const after = tokensOf(state, operation.measurements);
  if (after >= before) return false;
  draft.operations.set(entry.id, operation);
  draft.tokens += after - before;
  return true;
}

export function isUnseen(state: PlanningState, entry: EntryOutline): boolean {
  return entry.sequence > state.seenThrough;
}
