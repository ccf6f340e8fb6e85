import type { CalledTool } from '../turn/activity-values.ts';
import type { TurnProgress } from '../turn/carry-over.ts';
import { CONCURRENT_TOOL_CALLS, TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../turn/limits.ts';
import { isNewResult, noteToolResult } from '../turn/loop-guard.ts';
import type { EndedCall } from '../turn/loop-guard.ts';
import { toolWaves } from '../turn/tool-waves.ts';
import type { TurnActivities } from './activity-options.ts';
import { sideBySide } from './side-by-side.ts';
import { noteNews } from './time-limits.ts';

/** What came of the tool calls of one answer. */
interface RunCalls {
  /** Some brought a result that the turn had not seen. */
  readonly isNews: boolean;
  /** The limit that kept some from running; `null`: all ran. */
  readonly limit: 'tool_call_limit' | 'conversation_tool_call_limit' | null;
}

/** Runs all tool calls of one answer: exclusive ones alone and in order, the others up to eight at a time. */
export async function runToolCalls(
  activities: TurnActivities,
  progress: TurnProgress,
  answer: { readonly tools: readonly CalledTool[]; readonly calls: readonly number[] },
): Promise<RunCalls> {
  // Each once: calls of one answer were made without knowing one another's results.
  const ended = new Map<string, EndedCall>();
  const asked = answer.calls.flatMap((place) => answer.tools[place] ?? []);
  const before = progress.toolCalls;
  progress.toolCalls = before + asked.length;
  const { ofTurn, ofConversation } = toolCallLimits(progress);
  // What is over the limit does not run: the end of the turn says so in its place.
  const calls = asked.slice(0, runnableCalls(progress, before));
  for (const wave of toolWaves(calls)) {
    await sideBySide(CONCURRENT_TOOL_CALLS, wave, async (callIndex) => {
      const tool = calls[callIndex];
      if (tool === undefined) return;
      const result = await activities.runTool.executeWithOptions(
        {
          summary: tool.name,
          startToCloseTimeout: tool.timeoutMilliseconds + TOOL_TIMEOUT_MARGIN_MILLISECONDS,
        },
        [{ turn: progress.turn, callNumber: progress.callNumber, callIndex }],
      );
      const { fingerprint } = result;
      noteNews(progress);
      ended.set(fingerprint, { fingerprint, recall: result.recall === true });
    });
  }
  let isNews = false;
  for (const call of ended.values()) {
    const guard = progress.loopGuard;
    isNews ||= isNewResult(guard, call);
    progress.loopGuard = noteToolResult(guard, call);
  }
  if (calls.length === asked.length) return { isNews, limit: null };
  return { isNews, limit: ofTurn <= ofConversation ? 'tool_call_limit' : 'conversation_tool_call_limit' };
}

/** Of the calls that come next so many may run. */
export function runnableCalls(progress: TurnProgress, before = progress.toolCalls): number {
  const { ofTurn, ofConversation } = toolCallLimits(progress);
  return Math.max(0, Math.min(ofTurn, ofConversation) - before);
}

function toolCallLimits({ limits, conversationRest }: TurnProgress) {
  return {
    ofTurn: limits?.turn.toolCalls ?? Infinity,
    ofConversation: conversationRest?.toolCalls ?? Infinity,
  };
}
