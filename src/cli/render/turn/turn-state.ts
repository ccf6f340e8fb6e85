import type { ListedEntry, LiveTextUpdate, TimelineEvent } from '../../../client/types.ts';
import type { ToolCallPart } from '../../../context/log/content.ts';
import { textOf } from '../../../context/log/content.ts';
import { contentBytes, describeContent } from '../lists/entry-words.ts';
import { applyDecision } from './decision-state.ts';
import { applyCompaction } from './compaction-state.ts';
import type { RunningCompaction } from './compaction-state.ts';
import { addLiveText } from './live-text.ts';
import type { LiveText } from './live-text.ts';
import { applyWait, applyWaitOver } from './waits.ts';
import type { WaitingForProvider, WaitingForWorker } from './waits.ts';
import { noticeWords } from './notice-words.ts';
import { isSameCall, withTool } from './running-tools.ts';
import type { RunningTool } from './running-tools.ts';
import type { FinishedTool, TurnItem } from './turn-items.ts';

interface CallAttempt {
  readonly callNumber: number;
  readonly attempt: number;
}

/** What a turn does at the moment. */
export type Activity =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'preparing' }
  /** Waits for a person to decide on these calls, by name. */
  | { readonly kind: 'asking'; readonly calls: readonly string[] }
  | WaitingForProvider
  | WaitingForWorker
  | { readonly kind: 'calling'; readonly call: CallAttempt }
  | { readonly kind: 'retrying'; readonly call: CallAttempt; readonly failure: string; readonly status: number | null }
  | { readonly kind: 'ended'; readonly outcome: string };

/** A turn as far as its events tell: what a screen shows of it. Never changed, only replaced. */
export interface TurnScreenState {
  /** As commands name it. */
  readonly conversation: string;
  readonly turnId: string | null;
  /** Answered model calls. */
  readonly steps: number;
  /** Tokens of the newest request. */
  readonly tokens: number | null;
  /** Tokens that a request may have; `null` until known. */
  readonly inputBudget: number | null;
  /** Dollars; `undefined` until known, `null` when a price is unknown. */
  readonly cost: number | null | undefined;
  readonly activity: Activity;
  readonly tools: readonly RunningTool[];
  readonly compaction: RunningCompaction | null;
  readonly live: LiveText | null;
  /** Tool calls of the newest answers, by `callNumber:callIndex`. */
  readonly calls: ReadonlyMap<string, ToolCallPart>;
  /** Number of the newest model call that was answered; 0 before the first. */
  readonly answeredCall: number;
  /** Since when Postgres does not answer the reader; `null` while it does. Milliseconds since 1970. */
  readonly outageSince: number | null;
  /** When the last event or text came, by the clock of the reader; milliseconds since 1970. */
  readonly heardAt: number;
}

export function startState(now: number, conversation = 'last'): TurnScreenState {
  return {
    conversation,
    turnId: null,
    steps: 0,
    tokens: null,
    inputBudget: null,
    cost: undefined,
    activity: { kind: 'waiting' },
    tools: [],
    compaction: null,
    live: null,
    calls: new Map(),
    answeredCall: 0,
    outageSince: null,
    heardAt: now,
  };
}

export interface Applied {
  readonly state: TurnScreenState;
  readonly items: readonly TurnItem[];
}

const quiet = (state: TurnScreenState): Applied => ({ state, items: [] });

export function applyLiveText(state: TurnScreenState, update: LiveTextUpdate): TurnScreenState {
  // Text of a turn that is over, or of a call whose answer is already shown, comes too late.
  if (state.turnId !== null && update.turnId !== state.turnId) return state;
  if (state.activity.kind === 'ended') return state;
  if (update.callNumber <= state.answeredCall) return state;
  return { ...state, live: addLiveText(state.live, update) };
}

/** @param entry the entry that the event names, when it could be read */
export function applyEvent(state: TurnScreenState, event: TimelineEvent, entry: ListedEntry | null): Applied {
  switch (event.kind) {
    case 'turn_begun':
      return turnBegun(state, event);
    case 'message_taken':
      return { state, items: entry === null ? [] : [{ kind: 'user', text: describeContent(entry) }] };
    case 'model_call_started':
      return callStarted(state, event.data);
    case 'model_call_reclaimed': {
      const words = `A worker was lost; another one makes the model call again (attempt ${event.data.attempt}).`;
      return { state, items: [notice('warning', words)] };
    }
    case 'model_call_answered':
      return callAnswered(state, event, entry);
    case 'model_call_failed':
      return callFailed(state, event);
    case 'tool_call_reclaimed':
      return toolReclaimed(state, event);
    case 'tool_call_finished':
      return toolFinished(state, event, entry);
    case 'turn_ended':
      return quiet(turnEnded(state, event.data.outcome));
    case 'tool_result_late':
      return {
        state,
        items: [notice('information', 'A result of a lost attempt came late; it is kept beside the log.')],
      };
    case 'decision_requested':
    case 'decision_made':
      return applyDecision(state, event);
    case 'turn_waiting':
      return applyWait(state, event);
    case 'turn_wait_over':
      return applyWaitOver(state);
    case 'turn_continued':
    case 'note_added':
    case 'rules_changed':
      return quiet(state);
    case 'compaction_started':
    case 'compaction_part_written':
    case 'compaction_part_failed':
    case 'compaction_form_failed':
    case 'compaction_committed':
    case 'compaction_cancelled':
    case 'compaction_hook_skipped':
    case 'compaction_exhausted':
    case 'compaction_abandoned':
    case 'compaction_declined': {
      const { compaction, tokens, items } = applyCompaction(state.compaction, event);
      return { state: { ...state, compaction, tokens: tokens ?? state.tokens }, items };
    }
    // Also kinds of a newer worker.
    default:
      return { state, items: [{ kind: 'notice', ...noticeWords(event) }] };
  }
}

function turnEnded(state: TurnScreenState, outcome: string): TurnScreenState {
  return { ...state, activity: { kind: 'ended', outcome }, tools: [], live: null, compaction: null };
}

function turnBegun(state: TurnScreenState, event: TimelineEvent<'turn_begun'>): Applied {
  const { agent, model, preset, commandOnly } = event.data;
  return {
    state: { ...startState(state.heardAt, state.conversation), turnId: event.turnId, activity: { kind: 'preparing' } },
    items: commandOnly ? [] : [{ kind: 'turn_begun', agent, model, preset }],
  };
}

function callStarted(
  state: TurnScreenState,
  { callNumber, attempt, estimatedTokens: tokens }: TimelineEvent<'model_call_started'>['data'],
): Applied {
  const call = { callNumber, attempt };
  return {
    state: {
      ...state,
      activity: { kind: 'calling', call },
      tokens,
      live: isOfCall(state.live, call) ? state.live : null,
    },
    items: [],
  };
}

/** Text can come before the event of its call. */
function isOfCall(live: LiveText | null, { callNumber, attempt }: CallAttempt): boolean {
  return live?.callNumber === callNumber && live.attempt === attempt;
}

function callAnswered(
  state: TurnScreenState,
  { data: { callNumber, inputTokens }, createdAt }: TimelineEvent<'model_call_answered'>,
  entry: ListedEntry | null,
): Applied {
  const toolCalls = entry?.content.flatMap((part) => (part.type === 'tool_call' ? [part] : [])) ?? [];
  const text = entry === null ? '' : textOf(entry.content).trim();
  return {
    state: {
      ...state,
      steps: state.steps + 1,
      tokens: inputTokens ?? state.tokens,
      activity: { kind: 'preparing' },
      live: null,
      answeredCall: callNumber,
      calls: new Map(toolCalls.map((part) => [`${callNumber}:${part.index}`, part])),
      // They begin at once, unless a person is asked first.
      tools: toolCalls.map(({ index: callIndex, name, arguments: written }) => ({
        reference: { callNumber, callIndex, name },
        arguments: written,
        since: Date.parse(createdAt),
      })),
    },
    items: text === '' ? [] : [{ kind: 'answer', text }],
  };
}

function callFailed(state: TurnScreenState, { data }: TimelineEvent<'model_call_failed'>): Applied {
  const { callNumber, attempt, kind: failure, status } = data;
  const call = { callNumber, attempt };
  const words = failureWords(failure, status, attempt);
  return {
    state: { ...state, activity: { kind: 'retrying', call, failure, status }, live: null },
    items: words === null ? [] : [notice('warning', words)],
  };
}

/** What a failed model call means; `null` for one that was called off. */
function failureWords(failure: string, status: number | null, attempt: number): string | null {
  const answer = status === null ? '' : ` (HTTP ${status})`;
  switch (failure) {
    case 'overflow':
      return `The provider reported an overflow${answer}: the context is compacted and the call made again.`;
    case 'rate_limited':
      return `The provider limits the rate${answer}, try ${attempt}; the call is made again when it allows.`;
    case 'retryable':
      return `The provider failed${answer}, try ${attempt}; the call is made again.`;
    case 'permanent':
      return `The provider refused the call${answer}.`;
    case 'lost':
      return 'A worker was lost; the call is made again.';
    case 'aborted':
    case 'superseded':
      return null;
    default:
      return `The model call ended: ${failure.replaceAll('_', ' ')}${answer}.`;
  }
}

function toolReclaimed(
  state: TurnScreenState,
  { data: tool, createdAt }: TimelineEvent<'tool_call_reclaimed'>,
): Applied {
  const words = `A worker was lost; another one runs ${tool.name} again (attempt ${tool.attempt}).`;
  return {
    state: { ...state, tools: withTool(state, tool, Date.parse(createdAt)) },
    items: [notice('warning', words)],
  };
}

function toolFinished(
  state: TurnScreenState,
  { data: tool, createdAt }: TimelineEvent<'tool_call_finished'>,
  entry: ListedEntry | null,
): Applied {
  const running = state.tools.find(({ reference }) => isSameCall(reference, tool));
  const { outcome } = tool;
  const item: FinishedTool = {
    kind: 'tool',
    name: tool.name,
    arguments: running?.arguments ?? state.calls.get(`${tool.callNumber}:${tool.callIndex}`)?.arguments ?? null,
    outcome,
    bytes: entry === null ? null : (entry.originalBytes ?? contentBytes(entry)),
    failure: outcome === 'succeeded' || entry === null ? null : textOf(entry.content).slice(0, 400),
    durationMilliseconds: running === undefined ? null : Date.parse(createdAt) - running.since,
  };
  return { state: { ...state, tools: state.tools.filter((other) => other !== running) }, items: [item] };
}

function notice(level: 'information' | 'warning', text: string): TurnItem {
  return { kind: 'notice', level, text };
}
