import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnWorkflowId } from '../../../src/turn/temporal-names.ts';
import { remark } from '../../command-line.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { exactly, quantileOf, summarize } from '../statistics.ts';
import { ABORTS, HURRIED, HURRIED_SECONDS } from '../workers/settings.ts';

/** Milliseconds until the running tool is aborted. */
const TARGET = 1_000;

interface Cause {
  /** Default: `default`. */
  readonly agent?: string;
  /** Does it. Default: time does. */
  readonly act?: (stack: BenchStack, conversationId: string) => PromiseLike<unknown>;
}

/** What ends the work of a conversation. */
const CAUSES: Readonly<Record<string, Cause>> = {
  'a stop': { act: ({ client }, conversationId) => client.conversation.stop({ conversationId }) },
  "Temporal's cancel": {
    act: ({ temporal }, conversationId) => temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel(),
  },
  'a lost fence': {
    act: ({ database }, conversationId) =>
      database`update conversations set epoch = epoch + 1 where id = ${conversationId}`,
  },
  'a deadline': { agent: HURRIED },
};

/** How soon running work learns that it has to end: by a notification, and by looks where no direct connection brings one. */
export async function measureControl(stack: BenchStack, rounds: number): Promise<Figure[]> {
  const { databaseUrl } = stack.connections;
  const ways = [
    ['NOTIFY', databaseUrl],
    ['looks', `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}pgbouncer=true`],
  ] as const;
  const figures: Figure[] = [];
  for (const [way, url] of ways) {
    const worker = await stack.startWorker('holdfast', { databaseUrl: url });
    for (const [cause, what] of Object.entries(CAUSES)) {
      remark(`control: ${cause}, by ${way}`);
      const values: number[] = [];
      for (let round = 0; round < rounds && !stack.signal.aborted; round += 1)
        values.push(await measureOne(stack, what));
      const name = `${cause} → the tool is aborted, by ${way}`;
      const figure = { benchmark: 'control', unit: 'ms' } as const;
      figures.push({ ...figure, name, ...summarize(values) });
      const p95 = exactly(quantileOf(values, 0.95));
      figures.push({ ...figure, name: `${name}, p95`, p95Of: `${cause}, ${way}`, target: { atMost: TARGET }, ...p95 });
    }
    await worker.stop();
  }
  return figures;
}

async function measureOne(stack: BenchStack, { agent = 'default', act }: Cause): Promise<number> {
  const { client, database, signal } = stack;
  const before = (await abortsOf(stack)).length;
  const { conversationId } = await client.start('Call hold with {"milliseconds": 60000}', { agent });
  const isClaimed = async () =>
    (await database`select from tool_calls where conversation_id = ${conversationId} and state = 'claimed'`).length > 0;
  while (!(await isClaimed())) await sleep(20, undefined, { signal });
  let begun: number;
  if (act === undefined) {
    const [turn] = await database<{ begun: number }[]>`
      select (extract(epoch from begun_at) * 1000)::float8 as begun from turns where conversation_id = ${conversationId}`;
    begun = (turn?.begun ?? 0) + HURRIED_SECONDS * 1_000;
  } else {
    // At any moment between two looks and between two heartbeats.
    await sleep(200 + Math.random() * 5_000, undefined, { signal });
    begun = Date.now();
    await act(stack, conversationId);
  }
  for (;;) {
    const [aborted] = (await abortsOf(stack)).slice(before);
    if (aborted !== undefined) return aborted - begun;
    await sleep(20, undefined, { signal });
  }
}

async function abortsOf({ workspace }: BenchStack): Promise<readonly number[]> {
  const text = await readFile(join(workspace, ABORTS), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}
