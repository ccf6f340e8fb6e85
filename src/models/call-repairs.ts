import { ModelCallError, type ModelAnswer, type ModelRequest } from './model-client.ts';

/** A request as it is sent, after what the vendor refused was taken out of it. */
export interface Attempt {
  readonly request: ModelRequest;
  /** Whether thinking of earlier answers is sent along. */
  readonly thinking: boolean;
}

/** An answer shorter than this is no repair but a cut: then the view has to shrink. Tokens. */
const SMALLEST_USEFUL_OUTPUT = 4_096;

/**
 * Makes a call, and once more when the vendor refused it for something that can be left out at no
 * cost to the conversation: a maximum output that does not fit beside the input, or thinking whose
 * proof no longer fits the messages before it. A refusal comes before the first token, so nothing
 * is paid or shown twice. Each repair is made at most once.
 */
export async function answerWithRepairs(
  request: ModelRequest,
  call: (attempt: Attempt) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  let attempt: Attempt = { request, thinking: true };
  for (;;) {
    try {
      return await call(attempt);
    } catch (error) {
      const repaired = error instanceof ModelCallError ? repair(attempt, error) : undefined;
      if (repaired === undefined) throw error;
      attempt = repaired;
    }
  }
}

function repair(attempt: Attempt, error: ModelCallError): Attempt | undefined {
  const { verdict } = error;
  if (verdict.kind === 'retryable') return undefined;
  if (verdict.repair === 'drop_thinking') return attempt.thinking ? { ...attempt, thinking: false } : undefined;
  if (verdict.repair !== 'lower_max_tokens') return undefined;
  const { request } = attempt;
  const fitting = verdict.maximumOutput;
  const useful = Math.min(SMALLEST_USEFUL_OUTPUT, request.maximumOutput / 2);
  if (fitting === undefined || fitting < useful || fitting >= request.maximumOutput) return undefined;
  return { ...attempt, request: { ...request, maximumOutput: Math.floor(fitting) } };
}
