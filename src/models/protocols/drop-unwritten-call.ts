import type { ModelAnswer } from '../model-client.ts';

/**
 * The answer without a tool call that was cut before its first argument. No arguments at all mean
 * `{}` otherwise, so it would be run as something that the model never said. A call that was cut
 * later stays: its arguments are no JSON, so it is not run, and the model is told why.
 */
export function dropUnwrittenCall(answer: ModelAnswer): ModelAnswer {
  const last = answer.content.at(-1);
  const cut = answer.stopReason === 'maximum_output' || answer.stopReason === 'window_full';
  if (!cut || last?.type !== 'tool_call' || last.arguments.trim() !== '') return answer;
  return { ...answer, content: answer.content.slice(0, -1) };
}
