import type { ModelAnswer } from '../../models/model-client.ts';
import type { ToolCallPart } from '../../context/log/content.ts';
import { cutAnswerContent } from '../../context/view/cut-answer.ts';
import { DEFAULT_TOOL_TIMEOUT_MILLISECONDS } from '../../tools/define-tool.ts';
import { appendNote } from '../../store/log/entries.ts';
import type { StoredAnswer } from '../../store/attempts/model-calls.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { CalledTool, CallModelInput, CallModelResult } from '../../turn/activity-values.ts';
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
  if (result.kind === 'answered' && result.cut) await tellToGoOn(dependencies, input, answer);
  return result;
}

/** An answer that was cut at the maximum output is continued by the next step. */
async function tellToGoOn(
  { database, reachCrashPoint }: ActivityDependencies,
  input: CallModelInput,
  answer: StoredAnswer,
): Promise<void> {
  await appendNote(database, {
    ...newContent(cutAnswerContent()),
    turn: input.turn,
    slot: 'continuation',
    headEntryId: answer.entryId,
    key: `cut-answer:${input.callNumber}`,
  });
  reachCrashPoint('callModel:noted');
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
    return place >= 0 ? place : tools.push(calledTool(dependencies, name, snapshot.policy.toolsOneByOne === true)) - 1;
  });
  return {
    kind: 'answered',
    tools,
    calls: places,
    ...(calls.some(({ name }) => mayAsk(dependencies, snapshot, name)) && { asks: true as const }),
    inputTokens: answer.usage?.input ?? null,
    cut: answer.stopReason === 'maximum_output' && calls.length === 0,
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
  if (answer.stopReason === 'refusal' || answer.stopReason === 'content_filter') return false;
  return answer.content.every((part) => part.type === 'thinking' || (part.type === 'text' && part.text.trim() === ''));
}
