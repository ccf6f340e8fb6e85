import { z } from 'zod';
import { liveText, timelineEvent } from '../api/log-results.ts';
import { HoldfastClientError } from '../errors.ts';
import { piecesOf, refusalIn } from './requests.ts';
import type { Requests } from './requests.ts';
import type { LiveTextUpdate, TimelineEvent, WatchOptions, WatchUpdate } from '../types.ts';

const CUT_OFF = new HoldfastClientError('server_unreachable', 'the stream ended early', { retryAfterSeconds: 0 });

/** Follows the event stream of a server. A stream that is cut off goes on after the last event that came. */
export async function* watchRemote(requests: Requests, options: WatchOptions): AsyncGenerator<WatchUpdate> {
  const { conversationId, afterSequence = 0, liveText: wanted = true, signal } = options;
  let last = afterSequence;
  const path = `/conversations/${encodeURIComponent(conversationId)}/events?liveText=${wanted}`;
  while (!isAborted(signal)) {
    let failure: unknown = CUT_OFF;
    try {
      const headers = { 'last-event-id': String(last) };
      const response = await requests.open(path, { headers, ...(signal !== undefined && { signal }) });
      for await (const update of updatesIn(response)) {
        if (update.type === 'event') last = update.event.sequence;
        yield update;
      }
    } catch (error) {
      if (isAborted(signal)) return;
      if (error instanceof HoldfastClientError) failure = error;
    }
    await requests.waitAfter(failure, signal);
  }
}

/** Asked anew each time: it changes while a stream is read. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** A newer server may send what is not known here; the type says what this version knows. */
const event = z.custom<TimelineEvent>((value) => timelineEvent.safeParse(value).success);
const piece = z.custom<LiveTextUpdate>((value) => liveText.safeParse(value).success);

async function* updatesIn(response: Response): AsyncGenerator<WatchUpdate> {
  for await (const block of piecesOf(response, '\n\n')) {
    const update = updateIn(block);
    if (update !== null) yield update;
  }
}

/** One event of the stream; `null`: a comment, or of another kind. */
function updateIn(block: string): WatchUpdate | null {
  const kind = /^event: (?<kind>\w+)$/mu.exec(block)?.groups?.['kind'];
  const data: unknown = JSON.parse(/^data: (?<data>.*)$/mu.exec(block)?.groups?.['data'] ?? 'null');
  if (kind === 'error') throw refusalIn(data, 500);
  if (kind === 'timeline') return { type: 'event', event: event.parse(data) };
  if (kind !== 'live_text') return null;
  const text = piece.safeParse(data);
  return text.success ? { type: 'live_text', text: text.data } : null;
}
