import type { CalledTools } from '../turn/activity-values.ts';
import { isNewResult, noteToolResult } from '../turn/progress.ts';
import type { TurnProgress, EndedCall } from '../turn/progress.ts';
import { CONCURRENT_TOOL_CALLS, TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../turn/limits.ts';
import type { TurnActivities } from './activity-options.ts';
import { sideBySide } from './control.ts';

/**
 * Runs all tool calls of one answer: exclusive ones alone and in order, the others up to eight at a time.
 * @returns whether a result was new to the turn
 */
export async function runToolCalls(
  activities: TurnActivities,
  progress: TurnProgress,
  { tools, calls: places }: { readonly tools: CalledTools; readonly calls: readonly number[] },
): Promise<boolean> {
  // Each call once, because calls of one answer were made without each other's results.
  const ended = new Map<string, EndedCall>();
  const calls = places.map((place) => ({
    name: tools.names[place] ?? '',
    exclusive: tools.exclusive.includes(place),
    timeoutSeconds: tools.timeoutSeconds[place] ?? 0,
  }));
  for (const wave of toolWaves(calls)) {
    await sideBySide(CONCURRENT_TOOL_CALLS, wave, async (callIndex) => {
      const tool = calls[callIndex];
      if (tool === undefined) return;
      const result = await activities.runTool.executeWithOptions(
        {
          summary: tool.name,
          startToCloseTimeout: tool.timeoutSeconds * 1_000 + TOOL_TIMEOUT_MARGIN_MILLISECONDS,
        },
        [{ turn: progress.turn, callNumber: progress.callNumber, callIndex }],
      );
      const { fingerprint } = result;
      ended.set(fingerprint, { fingerprint, recall: result.recall === true });
    });
  }
  let isNews = false;
  for (const call of ended.values()) {
    const guard = progress.loopGuard;
    isNews ||= isNewResult(guard, call);
    progress.loopGuard = noteToolResult(guard, call);
  }
  return isNews;
}

/**
 * Splits the tool calls of one answer into waves. Calls of a wave may run at once; waves run in order. An exclusive call (an edit, a
 * command) is a wave of its own, so it sees what earlier calls did, and later calls see what it did.
 */
export function toolWaves(calls: readonly { readonly exclusive: boolean }[]): number[][] {
  const waves: number[][] = [];
  let open: number[] = [];
  calls.forEach((call, index) => {
    if (call.exclusive) {
      if (open.length > 0) waves.push(open);
      waves.push([index]);
      open = [];
    } else {
      open.push(index);
    }
  });
  if (open.length > 0) waves.push(open);
  return waves;
}
