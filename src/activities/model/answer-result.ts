import { z } from 'zod';
import type { ModelAnswer } from '../../models/model-client.ts';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import { cutAnswerContent, invalidOutputContent, missingCallContent } from '../../context/view/unfinished-answer.ts';
import { DEFAULT_TOOL_TIMEOUT_MILLISECONDS } from '../../tools/define-tool.ts';
import { appendNote, readFinalAnswer } from '../../store/log/entries.ts';
import type { StoredAnswer } from '../../store/attempts/model-calls.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { outputIn } from '../../turn/final-output.ts';
import type { CalledTool, CallModelInput, CallModelResult, Unfinished } from '../../turn/activity-values.ts';
import { mayAsk } from '../tool/decided-call.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { newContent } from '../runtime/new-content.ts';

/** Characters of a tool name that the workflow sees: a model may invent names of any length, the history may not grow by them. */
const LONGEST_NAME = 64;
/** Stands for every name that the model made up. */
const UNKNOWN_TOOL = 'unknown_tool';

/**
 * What follows the storing of an answer, whoever stored it: the worker that did may have died before it came to this. Repeating
 * it changes nothing.
 */
export async function completeAnswer(
  dependencies: ActivityDependencies,
  input: CallModelInput,
  snapshot: AgentSnapshot,
  answer: StoredAnswer,
): Promise<CallModelResult> {
  const result = describeAnswer(dependencies, snapshot, answer);
  if (result.kind !== 'answered' || result.calls.length > 0) return result;
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
    dependencies.reachCrashPoint('callModel:noted');
  }
  return { ...result, unfinished: found.reason };
}

/** Why an answer without a tool call is continued by another step, and what the model is told. `null`: it is complete. */
async function whyUnfinished(
  { database }: ActivityDependencies,
  { turn }: CallModelInput,
  { request }: AgentSnapshot,
  { stopReason }: StoredAnswer,
): Promise<{ readonly reason: Unfinished; readonly note: readonly ContentPart[] | null } | null> {
  if (stopReason === 'maximum_output') return { reason: 'answer_cut', note: cutAnswerContent() };
  // The vendor goes on with its own tools where it is sent what it answered, and nothing behind it.
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
): CallModelResult {
  if (answer.stopReason === 'refusal' || answer.stopReason === 'content_filter') return { kind: 'refused' };
  const calls = answer.content.filter((part): part is ToolCallPart => part.type === 'tool_call');
  const declared = new Set(snapshot.tools.map((tool) => tool.name));
  const tools: CalledTool[] = [];
  const places = calls.map((call) => {
    const name = declared.has(call.name) ? call.name.slice(0, LONGEST_NAME) : UNKNOWN_TOOL;
    const place = tools.findIndex((tool) => tool.name === name);
    return place >= 0 ? place : tools.push(calledTool(dependencies, name, snapshot.policy.toolsOneByOne)) - 1;
  });
  return {
    kind: 'answered',
    tools,
    calls: places,
    ...(calls.some(({ name }) => mayAsk(dependencies, snapshot, name)) && { asks: true as const }),
    inputTokens: answer.usage?.input ?? null,
    turnCost: answer.turnCost,
  };
}

/**
 * Of a tool that another version has and this worker lacks nobody knows whether it may run beside others: it runs alone.
 * @param oneByOne every call is alone, in the order of the answer
 */
function calledTool({ tools }: ActivityDependencies, name: string, oneByOne: boolean): CalledTool {
  const tool = tools.get(name);
  return {
    name,
    exclusive: oneByOne || (tool === undefined ? name !== UNKNOWN_TOOL : (tool.exclusive ?? false)),
    timeoutMilliseconds: tool?.timeout ?? DEFAULT_TOOL_TIMEOUT_MILLISECONDS,
  };
}

/** Neither text nor a tool call, and no refusal that explains it. */
export function isEmpty(answer: ModelAnswer): boolean {
  if (['refusal', 'content_filter', 'paused'].includes(answer.stopReason)) return false;
  return answer.content.every((part) => part.type === 'thinking' || (part.type === 'text' && part.text.trim() === ''));
}
