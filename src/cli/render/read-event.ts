import { writeCallName } from '../../turn/call-name.ts';
import { noticeWords } from './notice-words.ts';
import type { NoticeWords } from './notice-words.ts';
import type { TimelineEvent } from '../../client/types.ts';

interface EventPlace {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly turnId: string | null;
  /** The entry that came with it. */
  readonly entryId: string | null;
}

/** What the screen makes of a row of the timeline. Fields that a row lacks are `null`; a kind that this version does not know is a `notice`. */
export type ReadEvent = EventPlace &
  (
    | {
        readonly kind: 'turn_begun';
        readonly agent: string | null;
        readonly model: string | null;
        readonly preset: string | null;
        /** A command for an idle conversation: a turn with no step. */
        readonly commandOnly: boolean;
      }
    | { readonly kind: 'turn_continued' }
    | {
        readonly kind: 'turn_waiting';
        readonly delayMilliseconds: number | null;
        readonly provider: string | null;
        readonly reason: string | null;
        readonly holdsWorker: boolean | null;
      }
    | { readonly kind: 'turn_wait_over' }
    | { readonly kind: 'turn_ended'; readonly outcome: string; readonly reason: string | null }
    | { readonly kind: 'message_taken' }
    | { readonly kind: 'call_started'; readonly call: CallAttempt; readonly tokens: number | null }
    | { readonly kind: 'call_answered'; readonly call: CallAttempt; readonly inputTokens: number | null }
    | {
        readonly kind: 'call_failed';
        readonly call: CallAttempt;
        readonly failure: string;
        readonly status: number | null;
      }
    | { readonly kind: 'tool_reclaimed'; readonly tool: ToolReference }
    | { readonly kind: 'tool_finished'; readonly tool: ToolReference; readonly outcome: string | null }
    | { readonly kind: 'compaction_started'; readonly compaction: CompactionFacts }
    | { readonly kind: 'part_written'; readonly compactionId: string | null; readonly part: number | null }
    | {
        readonly kind: 'part_failed';
        readonly part: number | null;
        readonly failure: string | null;
        readonly failures: number | null;
      }
    | { readonly kind: 'form_failed'; readonly compaction: CompactionFacts; readonly failure: string | null }
    | { readonly kind: 'compaction_committed'; readonly compaction: CompactionFacts }
    | {
        readonly kind: 'compaction_exhausted';
        readonly tokens: number | null;
        readonly failure: string | null;
        readonly recoveries: number | null;
      }
    | { readonly kind: 'compaction_cancelled' }
    | { readonly kind: 'compaction_abandoned' }
    | { readonly kind: 'compaction_declined'; readonly reason: string | null; readonly tokens: number | null }
    | {
        readonly kind: 'decision_requested';
        readonly tool: ToolReference;
        /** As people name it. */
        readonly call: string;
        readonly asks: boolean;
      }
    | {
        readonly kind: 'decision_made';
        readonly tool: ToolReference;
        readonly call: string;
        readonly decision: string;
        readonly scope: string | null;
      }
    | { readonly kind: 'late_result' }
    | ({ readonly kind: 'notice' } & NoticeWords)
    | { readonly kind: 'quiet' }
  );

export interface CallAttempt {
  readonly callNumber: number;
  readonly attempt: number;
}

/** Addresses a tool call within its turn. */
export interface ToolReference {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly name: string;
  readonly attempt: number;
}

export interface CompactionFacts {
  readonly compactionId: string | null;
  readonly trigger: string | null;
  readonly form: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** Parts that a model summarizes. */
  readonly parts: number | null;
  /** Entries that are clipped, cleared or stripped. */
  readonly operations: number | null;
  readonly fromSequence: number | null;
  readonly toSequence: number | null;
  readonly durationMilliseconds: number | null;
  /** Messages in the view, and how many of them the pass takes out or shortens. */
  readonly messages?: number | null;
  readonly targets?: number | null;
  /** The view still fitted the window; otherwise the pass is a reaction to a jump past it. */
  readonly proactive?: boolean | null;
  /** The two counts of the request that the trigger was held against: by the policy's ratio, and by the provider. */
  readonly estimatedTokens?: number | null;
  readonly reportedTokens?: number | null;
}

type Data = TimelineEvent['data'];

export function readEvent(event: TimelineEvent): ReadEvent {
  const { data } = event;
  const common = {
    at: Date.parse(event.createdAt),
    turnId: event.turnId,
    entryId: text(data, 'entryId'),
  };
  switch (event.kind) {
    case 'turn_begun':
      return {
        ...common,
        kind: 'turn_begun',
        agent: text(data, 'agent'),
        model: text(data, 'model'),
        preset: text(data, 'preset'),
        commandOnly: data['commandOnly'] === true,
      };
    case 'turn_continued':
      return { ...common, kind: 'turn_continued' };
    case 'turn_ended':
      return { ...common, kind: 'turn_ended', outcome: text(data, 'outcome') ?? 'ended', reason: text(data, 'reason') };
    case 'message_taken':
      return { ...common, kind: 'message_taken' };
    case 'model_call_started':
      return { ...common, kind: 'call_started', call: callOf(data), tokens: number(data, 'estimatedTokens') };
    case 'model_call_answered':
      return { ...common, kind: 'call_answered', call: callOf(data), inputTokens: number(data, 'inputTokens') };
    case 'model_call_failed':
      return {
        ...common,
        kind: 'call_failed',
        call: callOf(data),
        failure: text(data, 'kind') ?? 'failed',
        status: number(data, 'status'),
      };
    case 'tool_call_reclaimed':
      return { ...common, kind: 'tool_reclaimed', tool: toolOf(data) };
    case 'tool_call_finished':
      return {
        ...common,
        kind: 'tool_finished',
        tool: toolOf(data),
        outcome: text(data, 'outcome'),
      };
    case 'tool_result_late':
      return { ...common, kind: 'late_result' };
    case 'note_added':
    case 'rules_changed':
      return { ...common, kind: 'quiet' };
    default:
      return { ...common, ...readRest(event.kind, data) };
  }
}

type Unplaced<Event> = Event extends unknown ? Omit<Event, keyof EventPlace> : never;

function readRest(kind: string, data: Data): Unplaced<ReadEvent> {
  return (
    readWait(kind, data) ??
    readDecision(kind, data) ??
    readCompaction(kind, data) ?? { kind: 'notice', ...noticeWords(kind, data) }
  );
}

function readWait(kind: string, data: Data): Unplaced<ReadEvent> | null {
  if (kind === 'turn_wait_over') return { kind };
  if (kind !== 'turn_waiting') return null;
  return {
    kind,
    delayMilliseconds: number(data, 'delayMilliseconds'),
    provider: text(data, 'provider'),
    reason: text(data, 'reason'),
    holdsWorker: truth(data, 'holdsWorker'),
  };
}

function readDecision(kind: string, data: Data): Unplaced<ReadEvent> | null {
  if (kind !== 'decision_requested' && kind !== 'decision_made') return null;
  const tool = toolOf(data);
  const call = writeCallName({ ...tool, turnNumber: number(data, 'turn') ?? 0 });
  if (kind === 'decision_requested') return { kind, tool, call, asks: text(data, 'kind') === 'question' };
  return { kind, tool, call, decision: text(data, 'decision') ?? 'decided', scope: text(data, 'scope') };
}

function readCompaction(kind: string, data: Data): Unplaced<ReadEvent> | null {
  switch (kind) {
    case 'compaction_started':
      return { kind: 'compaction_started', compaction: compactionOf(data) };
    case 'compaction_part_written':
      return { kind: 'part_written', compactionId: text(data, 'compactionId'), part: number(data, 'part', 'number') };
    case 'compaction_part_failed':
      return {
        kind: 'part_failed',
        part: number(data, 'part', 'number'),
        failure: text(data, 'failure'),
        failures: number(data, 'failures'),
      };
    case 'compaction_form_failed':
      return { kind: 'form_failed', compaction: compactionOf(data), failure: text(data, 'failure') };
    case 'compaction_committed':
      return { kind: 'compaction_committed', compaction: compactionOf(data) };
    case 'compaction_exhausted':
      return {
        kind: 'compaction_exhausted',
        tokens: number(data, 'tokens', 'tokensBefore', 'total'),
        failure: text(data, 'failure'),
        recoveries: number(data, 'recoveries'),
      };
    case 'compaction_cancelled':
      return { kind: 'compaction_cancelled' };
    case 'compaction_abandoned':
      return { kind: 'compaction_abandoned' };
    case 'compaction_declined':
      return { kind: 'compaction_declined', reason: text(data, 'reason'), tokens: number(data, 'tokens') };
    default:
      return null;
  }
}

function compactionOf(data: Data): CompactionFacts {
  return {
    compactionId: text(data, 'compactionId'),
    trigger: text(data, 'trigger', 'reason'),
    form: text(data, 'form'),
    tokensBefore: number(data, 'tokensBefore'),
    tokensAfter: number(data, 'tokensAfter'),
    parts: number(data, 'parts'),
    operations: number(data, 'operations', 'targets'),
    messages: number(data, 'messages'),
    targets: number(data, 'targets'),
    proactive: truth(data, 'proactive'),
    estimatedTokens: number(data, 'estimatedTokens'),
    reportedTokens: number(data, 'reportedTokens'),
    fromSequence: number(data, 'fromSequence', 'coveredFromSequence'),
    toSequence: number(data, 'toSequence', 'coveredThroughSequence'),
    durationMilliseconds: number(data, 'durationMilliseconds'),
  };
}

function callOf(data: Data): CallAttempt {
  return { callNumber: number(data, 'callNumber') ?? 0, attempt: number(data, 'attempt') ?? 1 };
}

function toolOf(data: Data): ToolReference {
  return {
    ...callOf(data),
    callIndex: number(data, 'callIndex') ?? 0,
    name: text(data, 'name') ?? 'tool',
  };
}

function number(data: Data, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = data[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (Array.isArray(value)) return value.length;
  }
  return null;
}

function truth(data: Data, name: string): boolean | null {
  const value = data[name];
  return typeof value === 'boolean' ? value : null;
}

function text(data: Data, ...names: readonly string[]): string | null {
  for (const name of names) if (typeof data[name] === 'string') return data[name];
  return null;
}
