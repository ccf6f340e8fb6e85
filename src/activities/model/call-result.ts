import { z } from 'zod';
import type { ModelAnswer } from '../../models/model-client.ts';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import { cutAnswerContent, invalidOutputContent, missingCallContent } from '../../context/view/notes.ts';
import { DEFAULT_TOOL_TIMEOUT_MILLISECONDS } from '../../tools/define-tool.ts';
import { appendNote, readFinalAnswer, newContent } from '../../store/log/entries.ts';
import type { StoredAnswer } from '../../store/attempts/model-calls.ts';
import { readSpending } from '../../store/turns/turn-limits.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { outputIn } from '../../turn/final-output.ts';
import type { CallModelInput, CallModelResult, Unfinished } from '../../turn/activity-values.ts';
import { runnableCalls } from '../../turn/spending.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import { mayAsk } from '../tool/decisions.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import { fallBack as storeFallback, readSilence } from '../../store/turns/fallbacks.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import {
  LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS,
  nextFallback,
  withModelInForce,
} from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';

/** Longest tool name in the history. Characters. A model may invent names of any length. */
const LONGEST_NAME = 64;
/** Characters of all names together. With 200 calls of 200 tools, half of what the guard allows. */
const ROOM_FOR_NAMES = 4_000;
/** Replaces every name that the model made up. */
const UNKNOWN_TOOL = 'unknown_tool';

/** The turn that got an answer. */
export interface Answered {
  readonly snapshot: AgentSnapshot;
  readonly limits: SpendingLimits;
}

/** Finishes after an answer was stored. The worker that stored it may have died before this. Repeating it changes nothing. */
export async function completeAnswer(
  dependencies: ActivityDependencies,
  input: CallModelInput,
  { snapshot, limits }: Answered,
  answer: StoredAnswer,
): Promise<CallModelResult> {
  const asked = answer.content.filter((part) => part.type === 'tool_call').length;
  const isLimited = (limits.turn.toolCalls ?? limits.conversation.toolCalls) !== undefined && asked > 0;
  const runs = isLimited
    ? runnableCalls(limits, await readSpending(dependencies.database, input.turn, limits), asked)
    : { runnable: asked, limit: null };
  const result = describeAnswer(dependencies, snapshot, answer, runs);
  if (result.kind !== 'answered' || asked > 0) return result;
  const found = await whyUnfinished(dependencies, input, snapshot, answer);
  if (found === null) return result;
  if (found.note !== null) {
    await appendNote(dependencies.database, {
      ...newContent(found.note),
      turn: input.turn,
      slot: 'continuation',
      headEntryId: answer.entryId,
      key: `unfinished-answer:${input.callNumber}`,
    });
  }
  return { ...result, unfinished: found.reason };
}

/** Why another step continues an answer without a tool call, and the note to the model; `null` if the answer is complete. */
async function whyUnfinished(
  { database }: ActivityDependencies,
  { turn }: CallModelInput,
  { request }: AgentSnapshot,
  { stopReason }: StoredAnswer,
): Promise<{ readonly reason: Unfinished; readonly note: readonly ContentPart[] | null } | null> {
  if (stopReason === 'maximum_output') return { reason: 'answer_cut', note: cutAnswerContent() };
  // The vendor continues with its own tools if its answer is the last message.
  if (stopReason === 'paused') return { reason: 'answer_paused', note: null };
  if (stopReason === 'tool_calls') return { reason: 'call_missing', note: missingCallContent() };
  if (request?.output === undefined) return null;
  const texts = (await readFinalAnswer(database, turn.turnId)).map(textOf);
  const { problem } = outputIn(texts, z.fromJSONSchema(request.output));
  return problem === undefined ? null : { reason: 'output_invalid', note: invalidOutputContent(problem) };
}

/** A stored answer as the workflow sees it: tool names and counts. */
function describeAnswer(
  dependencies: ActivityDependencies,
  snapshot: AgentSnapshot,
  answer: StoredAnswer,
  { runnable, limit }: ReturnType<typeof runnableCalls>,
): CallModelResult {
  if (answer.stopReason === 'refusal' || answer.stopReason === 'content_filter') return { kind: 'refused' };
  const asked = answer.content.filter((part): part is ToolCallPart => part.type === 'tool_call');
  const calls = asked.slice(0, runnable);
  const declared = new Set(snapshot.tools.map((tool) => tool.name));
  const named = calls.map(({ name }) => (declared.has(name) ? name : UNKNOWN_TOOL));
  const names = [...new Set(named)];
  const longest = Math.min(LONGEST_NAME, Math.floor(ROOM_FOR_NAMES / names.length));
  const traits = names.map((name) => snapshot.toolTraits?.[name] ?? {});
  const { toolsOneByOne } = snapshot.policy;
  return {
    kind: 'answered',
    tools: {
      names: names.map((name) => name.slice(0, longest)),
      timeoutSeconds: traits.map(({ timeoutMilliseconds = DEFAULT_TOOL_TIMEOUT_MILLISECONDS }) =>
        Math.ceil(timeoutMilliseconds / 1_000),
      ),
      exclusive: traits.flatMap(({ exclusive }, place) => (toolsOneByOne || exclusive === true ? [place] : [])),
    },
    calls: named.map((name) => names.indexOf(name)),
    ...(limit !== null && { limit }),
    ...(calls.some(({ name }) => mayAsk(dependencies, snapshot, name)) && { asks: true as const }),
    turnCost: answer.turnCost,
  };
}

/** Whether an answer has no text, no tool call and no refusal that explains it. */
export function isEmpty(answer: ModelAnswer): boolean {
  if (['refusal', 'content_filter', 'paused'].includes(answer.stopReason)) return false;
  return answer.content.every((part) => part.type === 'thinking' || (part.type === 'text' && part.text.trim() === ''));
}

/**
 * After a call that a model could not answer: from the next call on, the agent's next model takes over. Without one the result is
 * `failed`.
 */
export async function fallBack(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CallModelInput,
  of: {
    readonly snapshot: AgentSnapshot;
    /** Number of models given up before. */
    readonly givenUp: number;
    /** The failed try; `null` if the wait for a try is too long. */
    readonly attempt: number | null;
    readonly by: ActivityAttempt;
  },
): Promise<CallModelResult> {
  const { snapshot, givenUp, attempt, by } = of;
  const to = nextFallback(snapshot, givenUp);
  if (to === null) return { kind: 'failed' };
  await storeFallback(dependencies.database, { turn, callNumber, attempt, from: snapshot.model, to, by });
  return describeFallback(withModelInForce(snapshot, givenUp + 1));
}

/**
 * Gives up a fallback whose window cannot hold the view, however much of it is compacted, and takes the next one. The checked call
 * returns this instead of asking. Does not apply to the agent's own model: its small window ends the turn.
 * @returns whether another model took over
 */
export async function giveUpSmallFallback(
  { database }: ActivityDependencies,
  { turn, callNumber }: Pick<CallModelInput, 'turn' | 'callNumber'>,
): Promise<boolean> {
  const { snapshot, givenUp } = await readSnapshot(database, turn.turnId);
  const to = givenUp.length === 0 ? null : nextFallback(snapshot, givenUp.length);
  if (to === null) return false;
  const reason = 'window_too_small';
  await storeFallback(database, { turn, callNumber, attempt: null, from: snapshot.model, to, reason });
  return true;
}

/** The model that took over, for the workflow. */
export function describeFallback({ model, modelLimits }: AgentSnapshot): CallModelResult {
  return { kind: 'fallback', model, window: modelLimits.window };
}

/** Whether a fallback is at hand and the model in force has delayed the turn, or would, for too long. */
export async function prefersFallback(
  { database }: ActivityDependencies,
  turn: TurnReference,
  of: { readonly snapshot: AgentSnapshot; readonly givenUp: number; readonly delayMilliseconds: number },
): Promise<boolean> {
  const { snapshot, givenUp, delayMilliseconds } = of;
  if (nextFallback(snapshot, givenUp) === null) return false;
  const silence = await readSilence(database, { turn, model: snapshot.model });
  return silence + delayMilliseconds > LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS;
}
