import type { CalledTool } from '../turn/activity-values.ts';
import { atMost } from '../turn/at-most.ts';
import type { TurnProgress } from '../turn/carry-over.ts';
import { CONCURRENT_TOOL_CALLS } from '../turn/limits.ts';
import { NEW_LOOP_GUARD, noteToolResult } from '../turn/loop-guard.ts';
import type { EndedCall } from '../turn/loop-guard.ts';
import { toolWaves } from '../turn/tool-waves.ts';
import { TOOL_TIMEOUT_MARGIN_MILLISECONDS } from './activity-options.ts';
import type { TurnActivities } from './activity-options.ts';
import { noteNews } from './time-limits.ts';

/**
 * Runs all tool calls of one answer: exclusive ones alone and in order, the others up to eight at a time. `false`: the
 * turn's limit of tool calls kept some from running.
 */
export async function runToolCalls(
  activities: TurnActivities,
  progress: TurnProgress,
  answer: { readonly tools: readonly CalledTool[]; readonly calls: readonly number[] },
): Promise<boolean> {
  // Each once: calls of one answer were made without knowing one another's results.
  const ended = new Map<string | null, EndedCall>();
  const asked = answer.calls.flatMap((place) => answer.tools[place] ?? []);
  const before = progress.toolCalls ?? 0;
  progress.toolCalls = before + asked.length;
  // What is over the limit does not run: the end of the turn says so in its place.
  const calls = asked.slice(0, Math.max(0, (progress.limits?.turn.toolCalls ?? Infinity) - before));
  for (const wave of toolWaves(calls)) {
    await atMost(CONCURRENT_TOOL_CALLS, wave, async (callIndex) => {
      const tool = calls[callIndex];
      if (tool === undefined) return;
      const result = await activities.runTool.executeWithOptions(
        {
          summary: tool.name,
          startToCloseTimeout: tool.timeoutMilliseconds + TOOL_TIMEOUT_MARGIN_MILLISECONDS,
        },
        [{ turn: progress.turn, callNumber: progress.callNumber, callIndex }],
      );
      const fingerprint = result.fingerprint ?? null;
      noteNews(progress);
      ended.set(fingerprint, { fingerprint, recall: result.recall === true });
    });
  }
  for (const call of ended.values()) {
    progress.loopGuard = noteToolResult(progress.loopGuard ?? NEW_LOOP_GUARD, call);
  }
  return calls.length === asked.length;
}
