import { createHash } from 'node:crypto';
import type { ContentPart } from 'holdfast/internal/context/log/content.js';
import type { Entry, EntryOutline, NoteSlot } from 'holdfast/internal/context/log/entry.js';
import { anchoredCalibration, NO_CALIBRATION } from 'holdfast/internal/context/log/estimate.js';
import type { NewestReport } from 'holdfast/internal/context/log/estimate.js';
import { definedOf } from 'holdfast/internal/context/policy/defined-of.js';
import type { SummaryLedger, LedgerResult } from 'holdfast/internal/context/summary/summary-message.js';
import { viewAfterCompaction } from 'holdfast/internal/context/summary/whole-summary.js';
import { measureContent } from 'holdfast/internal/context/log/measure.js';
import {
  addMeasurements,
  characterCount,
  NO_MEASUREMENTS,
  subtractMeasurements,
  sumMeasurements,
} from 'holdfast/internal/context/log/measurements.js';
import type { MeasuredView } from 'holdfast/internal/context/view/view-arrangement.js';
import type { Measurements } from 'holdfast/internal/context/log/measurements.js';
import type { Calibration, CompactionPlan, Operation, SummaryInForce } from 'holdfast/internal/context/plan/plan.js';
import type { CompactionPolicy } from 'holdfast/internal/context/policy/policy.js';
import type { AgentView, ProjectionInput } from 'holdfast/internal/context/view/view.js';
import type { LabSession } from '../session/lab-session.ts';

export type SummaryWithText = SummaryInForce & { readonly text: string; readonly files: SummaryLedger };

/** A committed summary, as `commitCompaction` stores it. */
export interface NewLabSummary {
  readonly text: string;
  readonly measurements: Measurements;
  readonly files: SummaryLedger;
}

/** A tool call and what is known of its result. */
interface FinishedCall {
  readonly name: string;
  readonly arguments: string;
  readonly result: Pick<LedgerResult, 'entryId' | 'outcome' | 'characters'> | null;
}

function sizeOf({ id, isError, measurements }: EntryOutline): FinishedCall['result'] {
  const outcome = isError === true ? 'failed' : 'succeeded';
  return { entryId: id, outcome, characters: characterCount(measurements) };
}

/** A note or a marker that the replay itself appended. */
type OwnContent = readonly ContentPart[];

/**
 * The log of one replay in memory: sizes here, originals read from the session when a text is
 * needed. Answers what the store answers to the activities, from the same rules: `src/store/conversations/branch-path.ts`
 * (what is in scope of a view), `fit-check.ts` (the running sum), `commit-compaction.ts`.
 */
export class LabConversation {
  /** Measurements of the view without the fixed part: the running sum that the store keeps. */
  view: Measurements = NO_MEASUREMENTS;
  summary: SummaryWithText | null = null;
  /** The newest usage since the newest compaction: an older one never counts (R3). */
  reported: NewestReport | null = null;
  /** How many entries of the session are in the log; they come in its order. */
  appended = 0;
  /** A marker that was appended with its plan and waits for the commit. */
  private openMarker: EntryOutline | null = null;
  /** Sequence of the newest marker; reasoning up to it is gone. */
  private changedThrough: number | null = null;
  private commits = 0;
  private readonly log: EntryOutline[] = [];
  /** Position in the session by sequence − 1, or the content of an entry of the replay's own. */
  private readonly sources: (number | OwnContent)[] = [];
  private readonly byId = new Map<string, EntryOutline>();
  private readonly notes: EntryOutline[] = [];
  private readonly operations = new Map<string, Operation>();
  private readonly session: LabSession;
  private readonly idSeed: string;

  constructor(session: LabSession, idSeed: string) {
    this.session = session;
    this.idSeed = idSeed;
  }

  /** Appends the entry of the session at this position. */
  append(position: number): EntryOutline {
    const recorded = this.session.entries[position];
    if (recorded === undefined) throw new RangeError(`the session has no entry ${position}`);
    const { turn, place: _place, hasReasoning: _hasReasoning, ...rest } = recorded;
    this.appended = position + 1;
    return this.push({ ...rest, turnId: this.turnId(turn) }, position);
  }

  /** Ids are made from the seed, so that a replay is the same each time; they look and measure as the product's own. */
  turnId(turn: number): string {
    return makeId(this.idSeed, `turn ${turn}`);
  }

  newCompactionId(): string {
    return makeId(this.idSeed, `compaction ${this.log.length} ${this.commits}`);
  }

  private push(entry: Omit<EntryOutline, 'id' | 'sequence'>, source: number | OwnContent): EntryOutline {
    const sequence = this.log.length + 1;
    const outline: EntryOutline = { ...entry, id: makeId(this.idSeed, `entry ${sequence}`), sequence };
    this.log.push(outline);
    this.sources.push(source);
    this.byId.set(outline.id, outline);
    if (outline.kind === 'note') this.notes.push(outline);
    this.view = addMeasurements(this.view, outline.measurements);
    if (this.reported !== null) {
      const { usage, since } = this.reported;
      this.reported = { usage, since: addMeasurements(since, outline.measurements) };
    }
    return outline;
  }

  /** What the provider reports with the answer that was appended just now. */
  report(usage: NewestReport['usage']): void {
    this.reported = { usage, since: NO_MEASUREMENTS };
  }

  calibration(fixed: Measurements): Calibration {
    return anchoredCalibration(NO_CALIBRATION, addMeasurements(this.view, fixed), this.reported);
  }

  get entries(): readonly EntryOutline[] {
    return this.log;
  }

  entryById(id: string): EntryOutline | undefined {
    return this.byId.get(id);
  }

  /** Position in the session of an entry; `null` for a note or a marker. */
  positionOf(entry: EntryOutline): number | null {
    const source = this.sources[entry.sequence - 1];
    return typeof source === 'number' ? source : null;
  }

  content(entry: EntryOutline): readonly ContentPart[] {
    const source = this.sources[entry.sequence - 1];
    return typeof source === 'number' ? this.session.content(source) : (source ?? []);
  }

  /** Calls in a stretch of the log, each with the size of its result; `null` while there is none. */
  finishedCalls(fromSequence: number, toSequence: number): readonly FinishedCall[] {
    const results = new Map<string, EntryOutline>();
    for (const entry of this.log.slice(fromSequence - 1)) {
      if (entry.kind === 'tool_result') results.set(`${entry.turnId} ${entry.callNumber} ${entry.callIndex}`, entry);
    }
    const answers = this.log
      .slice(fromSequence - 1, toSequence)
      .filter((entry) => entry.kind === 'assistant' && (entry.toolCallCount ?? 0) > 0);
    return answers.flatMap((answer) =>
      this.content(answer).flatMap((part): FinishedCall[] => {
        if (part.type !== 'tool_call') return [];
        const result = results.get(`${answer.turnId} ${answer.callNumber} ${part.index}`);
        return [{ name: part.name, arguments: part.arguments, result: result === undefined ? null : sizeOf(result) }];
      }),
    );
  }

  withContent(entries: readonly EntryOutline[]): Entry[] {
    return entries.map((entry) => ({ ...entry, content: this.content(entry) }));
  }

  /** What a view or a plan can need: everything from the cut on, kept user messages and the newest notes before it. */
  scope(): readonly EntryOutline[] {
    const { summary, log } = this;
    if (summary === null) return log;
    const cut = summary.firstKeptSequence;
    const newestNotes = new Map<NoteSlot, EntryOutline>();
    for (const note of this.notes) {
      if (note.sequence < cut && note.slot !== undefined) newestNotes.set(note.slot, note);
    }
    const kept = summary.keptSequences.flatMap((sequence) => log[sequence - 1] ?? []);
    const older = [...new Set([...kept, ...newestNotes.values()])].filter((entry) => entry.sequence < cut);
    older.sort((left, right) => left.sequence - right.sequence);
    return [...older, ...log.slice(cut - 1)];
  }

  operationsInForce(): readonly Operation[] {
    if (this.operations.size === 0) return [];
    return this.scope().flatMap((entry) => this.operations.get(entry.id) ?? []);
  }

  measuredView(fixed: Measurements): MeasuredView & { readonly entries: readonly EntryOutline[] } {
    return { fixed, entries: this.scope(), summary: this.summary, operations: this.operationsInForce() };
  }

  projectionInput(agent: { readonly view: AgentView; readonly policy: CompactionPolicy }): ProjectionInput {
    return {
      agent: agent.view,
      question: agent.policy.summary.question,
      entries: this.withContent(this.scope()),
      summary: this.summary,
      operations: this.operationsInForce(),
      ...definedOf({
        placeholders: agent.policy.placeholders ?? undefined,
        requestStubs: agent.policy.requestStubs ?? undefined,
      }),
      ...(this.changedThrough !== null && { changedThroughSequence: this.changedThrough }),
    };
  }

  /** Whether the entry's reasoning is in the view. */
  showsReasoning(entry: EntryOutline): boolean {
    const position = this.positionOf(entry);
    const has = position !== null && this.session.entries[position]?.hasReasoning === true;
    return has && entry.sequence > (this.changedThrough ?? -Infinity);
  }

  /** Whether a pass is in force. */
  get hasPass(): boolean {
    return this.summary !== null || this.operations.size > 0;
  }

  /** What `beginTurn` does under a policy whose passes last for a turn: the view is the whole conversation again. */
  forgetPasses(): void {
    this.summary = null;
    this.operations.clear();
    this.changedThrough = null;
    this.reported = null;
    this.view = sumMeasurements(this.log.map(({ measurements }) => measurements));
  }

  /** What storing a new plan does to the log: one that opens with a marker appends it. Returns the plan as it is stored. */
  open(plan: CompactionPlan, turnId: string): CompactionPlan {
    if (!plan.opensWithMarker) return plan;
    this.openMarker = this.push({ kind: 'compaction', turnId, measurements: NO_MEASUREMENTS }, []);
    return plan.keptFromMarker ? { ...plan, firstKeptSequence: this.openMarker.sequence } : plan;
  }

  /** Puts a judged plan in force; the same writes as the store's, in the same order. */
  commit(
    plan: CompactionPlan,
    of: {
      readonly compactionId: string;
      readonly summary: NewLabSummary | null;
      readonly fixed: Measurements;
      readonly turnId: string;
      readonly continuation: readonly ContentPart[] | null;
    },
  ): void {
    const { compactionId, summary, fixed, turnId, continuation } = of;
    const after = viewAfterCompaction(this.measuredView(fixed), plan, compactionId, summary?.measurements ?? null);
    const { firstKeptSequence, coveredThroughSequence, keptSequences, shown, inPlace } = plan;
    if (summary !== null && firstKeptSequence !== null && coveredThroughSequence !== null) {
      this.summary = {
        compactionId,
        firstKeptSequence,
        coveredThroughSequence,
        keptSequences,
        ...(shown !== undefined && { shown }),
        ...(inPlace !== undefined && { inPlace }),
        ...summary,
      };
    }
    for (const operation of plan.operations) this.operations.set(operation.entryId, operation);
    this.commits += 1;
    const opened = plan.opensWithMarker ? this.openMarker : null;
    const marker = opened ?? this.push({ kind: 'compaction', turnId, measurements: NO_MEASUREMENTS }, []);
    this.changedThrough = marker.sequence;
    this.openMarker = null;
    this.reported = null;
    this.view = subtractMeasurements(after, fixed);
    if (continuation !== null) {
      const measurements = measureContent(continuation);
      this.push({ kind: 'note', slot: 'continuation', turnId, measurements }, continuation);
    }
  }
}

/** A text of the form of a UUIDv7, from a seed and a name. */
function makeId(seed: string, name: string): string {
  const hex = createHash('sha256').update(`${seed}\n${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
