import { mayPass, pause, Problem } from './problem.ts';
import { fillPath, reach } from './request.ts';
import type { Update } from './types.ts';

/** The server writes something every 15 seconds: a stream that is silent for so long leads nowhere. */
const SILENT_MILLISECONDS = 45_000;
const BROKEN = new Problem('stream_broken', 'The stream of events has ended.', 'This page connects again.', 0);
const FIRST_DELAY = 500;
const LONGEST_DELAY = 8_000;

/**
 * Follows a conversation's events from one on, and connects again after the last one that it saw. By fetch, since an EventSource sends
 * no API key.
 */
export async function follow(
  conversationId: string,
  afterSequence: number,
  take: (update: Update) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = afterSequence;
  let delay = FIRST_DELAY;
  while (!signal.aborted) {
    const silence = endSilence();
    try {
      const { url } = fillPath('/conversations/{conversationId}/events', { conversationId });
      const either = AbortSignal.any([signal, silence.signal]);
      const response = await reach(url, { headers: { 'last-event-id': String(last) }, signal: either });
      take({ type: 'connected' });
      delay = FIRST_DELAY;
      for await (const update of updatesOf(response, silence.heard)) {
        if (update.type === 'event') last = update.event.sequence;
        take(update);
      }
      throw BROKEN;
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Problem ? error : BROKEN;
      take({ type: 'lost', problem });
      if (!mayPass(problem)) return;
      delay = Math.max(delay, problem.waitMilliseconds);
    } finally {
      silence.end();
    }
    await pause(delay);
    delay = Math.min(delay * 2, LONGEST_DELAY);
  }
}

/** Ends a request after which nothing comes. */
function endSilence() {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  const heard = (): void => {
    end();
    timer = setTimeout(() => ending.abort(), SILENT_MILLISECONDS);
  };
  heard();
  return { signal: ending.signal, heard, end };
}

/** @param heard called for whatever comes */
async function* updatesOf(response: Response, heard: () => void): AsyncGenerator<Update> {
  if (response.body === null) return;
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    heard();
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const update = parseBlock(block);
      if (update !== null) yield update;
    }
  }
}

function parseBlock(block: string): Update | null {
  const fields = block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  const of = (name: string): string =>
    fields
      .filter(([field]) => field === name)
      .map(([, value]) => value)
      .join('\n');
  const data = of('data');
  if (data === '') return null;
  if (of('event') === 'timeline') return { type: 'event', event: JSON.parse(data) };
  if (of('event') === 'live_text') return { type: 'live_text', text: JSON.parse(data) };
  const { code, detail, next } = JSON.parse(data);
  throw new Problem(code, detail, next, 0);
}
