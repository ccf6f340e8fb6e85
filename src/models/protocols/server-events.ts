import { RefusedInBody } from '../call-failure.ts';
import { isRecord, parseJson } from './json.ts';

/** The data of the last event: the server has said everything. */
export const DONE = '[DONE]';

/**
 * The data of server-sent events, parsed, with the event's name as `type` where the data names none. An event counts also
 * without a blank line behind it. llama.cpp sends errors in a field `error`.
 * @throws RefusedInBody for an event of the name `error`
 * @throws SyntaxError for data that is no JSON
 */
export async function* serverEvents(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder();
  let unread = '';
  let name = '';
  let data: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    unread += done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
    const lines = unread.split(/\r\n|\n|\r(?=[^\n])/);
    unread = lines.pop() ?? '';
    for (const line of lines) {
      const [, field, content = ''] = /^(event|data|error): ?(.*)$/s.exec(line) ?? [];
      if (field === 'event') name = content.trim();
      else if (field !== undefined) data.push(content);
      if (field === 'error') name = 'error';
      if (line !== '') continue;
      yield* eventsOf(name, data);
      [name, data] = ['', []];
    }
    if (done) return;
  }
}

function eventsOf(name: string, data: readonly string[]): unknown[] {
  const text = data.join('\n').trim();
  if (text === '') return [];
  if (text === DONE) return [DONE];
  const event = parseJson(text);
  if (name === 'error') throw new RefusedInBody(event ?? text);
  // Some servers leave the blank line between two events out.
  const events = event === undefined ? data.map((line) => (line.trim() === DONE ? DONE : JSON.parse(line))) : [event];
  if (name === '') return events;
  return events.map((each: unknown) => (isRecord(each) ? Object.assign({ type: name }, each) : each));
}
