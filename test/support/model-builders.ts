import type { ContentPart, ToolCallPart } from '../../src/context/log/content.ts';
import type { View, ViewMessage } from '../../src/context/view/view.ts';
import { ModelCallError, type ModelRequest, type StreamDelta } from '../../src/models/model-client.ts';

export function text(words: string): ContentPart {
  return { type: 'text', text: words };
}

export function user(...content: readonly (ContentPart | string)[]): ViewMessage {
  return {
    role: 'user',
    origin: 'user',
    content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
  };
}

export function assistant(...content: readonly (ContentPart | string)[]): ViewMessage {
  return {
    role: 'assistant',
    callNumber: 1,
    turnId: 'turn',
    content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
  };
}

export function call(id: string, index = 0, name = 'read_file', written = '{"path":"a"}'): ToolCallPart {
  return { type: 'tool_call', id, index, name, arguments: written };
}

export function results(
  ...list: readonly (readonly [id: string, ...content: (ContentPart | string)[]])[]
): ViewMessage {
  return {
    role: 'tool_results',
    results: list.map(([id, ...content]) => ({
      id,
      name: 'read_file',
      isError: false,
      content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
    })),
  };
}

export const PICTURE: ContentPart = { type: 'image', mediaType: 'image/png', data: 'aGk=', width: 10, height: 10 };

export function viewOf(messages: readonly ViewMessage[], changes: Partial<View> = {}): View {
  return {
    system: 'You read files.',
    tools: [
      {
        name: 'read_file',
        description: 'Reads a file.',
        inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    ],
    messages,
    ...changes,
  };
}

export function requestOf(view: View, changes: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'some-model', view, maximumOutput: 8_192, cacheKey: 'conversation-1', ...changes };
}

/** Stream options that keep the deltas. */
export function listening(signal: AbortSignal = new AbortController().signal): {
  readonly signal: AbortSignal;
  readonly deltas: StreamDelta[];
  readonly onDelta: (delta: StreamDelta) => void;
} {
  const deltas: StreamDelta[] = [];
  return { signal, deltas, onDelta: (delta) => deltas.push(delta) };
}

/** The ModelCallError that a call is rejected with; anything else fails the test. */
export async function failureOf(promise: Promise<unknown>): Promise<ModelCallError> {
  const error = await promise.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelCallError)) throw error;
  return error;
}

/** A step with two parallel calls, and what the user says then. */
export const GROUP = [
  user('do it'),
  assistant('reading', call('toolu_a', 0), call('toolu_b', 1)),
  results(['toolu_a', 'A'], ['toolu_b', 'B']),
  user('and now?'),
];
