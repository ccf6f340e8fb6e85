import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLiveText } from '../../../src/activities/runtime/live-text.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { summarize } from '../statistics.ts';

const DELTAS = 300;
/** About the pace at which models write words. Milliseconds. */
const PAUSE_MILLISECONDS = 23;

/** From a delta reaching the worker to the reader of `watch` having it; each delta says when it was written. */
export async function measureLiveText({ client, connections, signal }: BenchStack): Promise<Figure[]> {
  const sent = await client.start('Say hello');
  await client.conversation.outcome({ ...sent, signal });
  const { conversationId } = sent;
  const notifier = connectDatabase({
    url: connections.databaseUrl,
    applicationName: 'holdfast-bench-live',
    maximumConnections: 1,
  });
  const end = new AbortController();
  const delays: number[] = [];
  const watching = (async () => {
    for await (const update of client.conversation.watch({
      conversationId,
      signal: AbortSignal.any([end.signal, signal]),
    })) {
      if (update.type !== 'live_text') continue;
      const now = performance.now();
      for (const [, writtenAt] of update.text.text.matchAll(/<([\d.]+)>/gu)) delays.push(now - Number(writtenAt));
    }
  })();
  try {
    const live = openLiveText(notifier, { conversationId, turnId: randomUUID(), callNumber: 1_000, attempt: 1 });
    // The first notifications may come before the reader listens.
    for (let delta = 0; delta < DELTAS && !signal.aborted; delta += 1) {
      live.write({ kind: 'text', text: `<${performance.now().toFixed(3)}>` });
      await sleep(PAUSE_MILLISECONDS);
    }
    await live.close();
    await sleep(500);
  } finally {
    end.abort();
    await watching;
    await notifier.end({ timeout: 1 });
  }
  const figure = { benchmark: 'live-text', unit: 'ms' } as const;
  return [{ ...figure, name: 'delta in the worker → watch', target: { atMost: 250 }, ...summarize(delays) }];
}
