import { ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Names from the semantic conventions for generative AI. */
const OPERATIONS: Readonly<Record<string, string>> = { callModel: 'chat', runTool: 'execute_tool' };

export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => inActivitySpan(info, input.args[0], () => next(input)),
  },
});

/**
 * A span for one attempt of an activity. The turn's id is the trace id, so all workers and runs of a turn write into one trace and
 * nothing has to cross Temporal's history.
 * @param argument of the activity; it may name the turn
 */
export function inActivitySpan<Result>(
  { activityType, attempt }: Pick<Info, 'activityType' | 'attempt'>,
  argument: unknown,
  work: () => Promise<Result>,
): Promise<Result> {
  const turn = turnOf(argument);
  const name = OPERATIONS[activityType] ?? activityType;
  const attributes = {
    'gen_ai.operation.name': name,
    'holdfast.attempt': attempt,
    ...(turn !== null && { 'gen_ai.conversation.id': turn.conversationId, 'holdfast.turn.id': turn.turnId }),
  };
  const parent = turn === null ? ROOT_CONTEXT : traceOf(turn.turnId);
  return trace.getTracer('holdfast').startActiveSpan(name, { attributes }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      // The name only, because an error's message may quote the conversation.
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

function traceOf(turnId: string): Context {
  const traceId = turnId.replaceAll('-', '');
  const spanId = traceId.slice(16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

function turnOf(argument: unknown): { readonly conversationId: string; readonly turnId: string } | null {
  const turn = property(argument, 'turn') ?? argument;
  const [conversationId, turnId] = [property(turn, 'conversationId'), property(turn, 'turnId')];
  return typeof conversationId === 'string' && typeof turnId === 'string' ? { conversationId, turnId } : null;
}

function property(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
}
