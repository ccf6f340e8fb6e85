/** What the span under way says of a call beside its events. Without an SDK of OpenTelemetry in the process, this does nothing. */
import { trace } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { ReportedUsage, StopReason } from '../../models/model-client.ts';

/** OpenTelemetry's own variable: with `true` texts go to the collector. */
const SHOWS_TEXT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** Of each text. Collectors drop a span that is larger than some megabytes. Characters. */
const LONGEST_TEXT = 20_000;

/** @param called of a call that no event tells, as a summary's */
export function traceAnswer(
  { content, stopReason, usage }: { content: readonly ContentPart[]; stopReason: StopReason; usage?: ReportedUsage },
  called?: { readonly model: string },
): void {
  const [provider = '', ...model] = called?.model.split('/') ?? [];
  trace.getActiveSpan()?.setAttributes({
    ...(called !== undefined && {
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model.join('/'),
      'gen_ai.usage.input_tokens': usage?.input ?? 0,
      'gen_ai.usage.output_tokens': usage?.output ?? 0,
    }),
    ...texts(() => {
      const message = { role: 'assistant', parts: content.flatMap(partOf), finish_reason: stopReason };
      return { 'gen_ai.output.messages': JSON.stringify([message]) };
    }),
  });
}

export function traceToolCall(argumentsText: string, result: readonly ContentPart[]): void {
  trace.getActiveSpan()?.setAttributes(
    texts(() => ({
      'gen_ai.tool.call.arguments': argumentsText.slice(0, LONGEST_TEXT),
      'gen_ai.tool.call.result': textOf(result).slice(0, LONGEST_TEXT),
    })),
  );
}

function texts(of: () => Attributes): Attributes {
  return process.env[SHOWS_TEXT] === 'true' ? of() : {};
}

function partOf(part: ContentPart): object[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', content: part.text.slice(0, LONGEST_TEXT) }];
    case 'thinking':
      return [{ type: 'reasoning', content: part.text.slice(0, LONGEST_TEXT) }];
    case 'tool_call':
      return [{ type: 'tool_call', id: part.id, name: part.name, arguments: part.arguments.slice(0, LONGEST_TEXT) }];
    default:
      return [];
  }
}
