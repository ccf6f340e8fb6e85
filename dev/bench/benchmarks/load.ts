import type { SentMessage } from '../../../src/client/types.ts';
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { remark } from '../../command-line.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runTurn } from '../measured-turn.ts';
import { readLostAttempts } from '../lost-attempts.ts';
import type { LostAttempts } from '../lost-attempts.ts';
import { exactly, growthOf, summarize } from '../statistics.ts';
import { measureSize } from './load-size.ts';
import type { BenchWorker } from '../workers/worker-process.ts';

const OPEN_TURNS = 200;
const ACTIVE_TURNS = 20;
const HEAP_MEBIBYTES = 512;
/** Every open turn that rests holds one. */
const SLOTS = OPEN_TURNS + ACTIVE_TURNS;
const STEPS = 11;
const SAMPLES = 10;
const MEBIBYTE = 1_024 ** 2;
const MEMORY_TARGET = { atMost: 1.2 };
const LATE_TARGET = { atMost: 50 };

type Sample = Awaited<ReturnType<BenchWorker['memory']>>;

const LONG_MODEL = 'simulator/sim-2000k-verbose';
/** About a million tokens in 40 messages, and an answer of about 1 MB. */
const MESSAGES = 40;
const MESSAGE_WORDS = 25_000;
const ANSWER_WORDS = 230_000;

/** 200 turns open in one small worker, and a step in a database of 2,000 conversations against one in an empty database. */
export async function measureLoad(stack: BenchStack, options: BenchOptions): Promise<Figure[]> {
  await writeFile(
    join(stack.workspace, 'holdfast.yaml'),
    `models:\n  ${LONG_MODEL}:\n    window: 2048000\n    maximumOutput: 512000\n`,
  );
  const worker = await stack.startWorker('holdfast', { heapMebibytes: HEAP_MEBIBYTES, concurrentWork: SLOTS });
  try {
    const size = await measureSize(stack, options);
    if (stack.signal.aborted) return size;
    remark(`load: ${OPEN_TURNS} open turns, ${options.minutes} minutes`);
    return [...size, ...(await measureOpenTurns(stack, worker, options))];
  } finally {
    await worker.stop();
  }
}

async function measureOpenTurns(stack: BenchStack, worker: BenchWorker, { minutes }: BenchOptions): Promise<Figure[]> {
  const { signal } = stack;
  const resting = await Promise.all(
    Array.from({ length: OPEN_TURNS - ACTIVE_TURNS }, () => stack.client.start('Call rest with {}')),
  );
  // One of each turn that is waited for.
  setMaxListeners(0, signal);
  const end = Date.now() + minutes * 60_000;
  let steps = 0;
  const active = Array.from({ length: ACTIVE_TURNS }, async () => {
    while (Date.now() < end && !signal.aborted) {
      await runTurn(stack, STEPS);
      steps += STEPS + 1;
    }
  });
  const memory: Sample[] = [];
  const sample = async (): Promise<void> => void memory.push(await worker.memory());
  for (let number = 1; number < SAMPLES; number += 1) {
    await until(end - ((SAMPLES - number) * minutes * 60_000) / SAMPLES, signal);
    await sample();
  }
  const long = await measureLongView(stack, worker);
  await Promise.all(active);
  await sample();
  // While the turns that rest are open: their activities are looked at too.
  const lost = await readLostAttempts(stack.temporal, signal);
  await Promise.all(resting.map(({ conversationId }) => stack.client.conversation.stop({ conversationId })));
  await Promise.all(resting.map((sent) => stack.client.conversation.outcome({ ...sent, signal })));
  return figuresOf({ memory, long, lost, steps, minutes });
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  while (Date.now() < time && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 100));
}

interface LongView {
  readonly window: Sample;
  readonly tokens: number;
}

/** How late the event loop is while a view of a million tokens is built and an answer of 1 MB streams, beside all the rest. */
async function measureLongView(stack: BenchStack, worker: BenchWorker): Promise<LongView> {
  const { client, signal } = stack;
  const first = await client.start('Say ready', { model: LONG_MODEL });
  await client.conversation.outcome({ ...first, signal });
  const { conversationId } = first;
  let last: SentMessage = first;
  for (let number = 0; number < MESSAGES; number += 1) {
    const content = `${number} ${'word '.repeat(MESSAGE_WORDS)}`;
    last = await client.conversation.send({ conversationId, content, mode: 'steer' });
  }
  await client.conversation.outcome({ ...last, signal });
  // From here on: the one turn whose view is that long from its beginning.
  await worker.memory();
  const writing = await client.conversation.send({
    conversationId,
    content: `Write ${ANSWER_WORDS} words`,
    mode: 'queue',
  });
  const turn = await client.conversation.outcome({ ...writing, signal });
  const window = await worker.memory();
  if (turn.outcome !== 'completed') throw new Error(`the turn with the long view ended as ${turn.outcome}`);
  const { items: calls } = await client.log.modelCalls({ conversationId });
  return { window, tokens: calls.at(-1)?.reportedTokens ?? 0 };
}

function figuresOf(measured: {
  readonly memory: readonly Sample[];
  readonly long: LongView;
  readonly lost: LostAttempts;
  readonly steps: number;
  readonly minutes: number;
}): Figure[] {
  const { memory, long, lost, steps, minutes } = measured;
  const figure = { benchmark: 'load' } as const;
  const heap = memory.map(({ heapBytes }) => heapBytes / MEBIBYTE);
  const resident = memory.map(({ residentBytes }) => residentBytes / MEBIBYTE);
  const late = memory.map(({ lateMilliseconds }) => lateMilliseconds);
  const latest = memory.map(({ latestMilliseconds }) => latestMilliseconds);
  return [
    { ...figure, name: `steps in ${minutes} minutes`, unit: 'steps/s', ...exactly(steps / (minutes * 60)) },
    { ...figure, name: 'heap', unit: 'MiB', ...summarize(heap) },
    { ...figure, name: 'heap, end / beginning', unit: '×', target: MEMORY_TARGET, ...exactly(growthOf(heap)) },
    { ...figure, name: 'resident', unit: 'MiB', ...summarize(resident) },
    { ...figure, name: 'resident, end / beginning', unit: '×', target: MEMORY_TARGET, ...exactly(growthOf(resident)) },
    { ...figure, name: 'activities', unit: 'events', ...exactly(lost.activities) },
    { ...figure, name: 'attempts lost', unit: 'events', target: { atMost: 0 }, ...exactly(lost.lost) },
    { ...figure, name: 'event loop late, p99', unit: 'ms', ...summarize(late) },
    {
      ...figure,
      name: 'event loop late, p99, worst tenth',
      unit: 'ms',
      target: LATE_TARGET,
      ...exactly(Math.max(...late)),
    },
    { ...figure, name: 'event loop late, longest', unit: 'ms', ...exactly(Math.max(...latest)) },
    {
      ...figure,
      name: 'view of the long call',
      unit: 'tokens',
      target: { atLeast: 1_000_000 },
      ...exactly(long.tokens),
    },
    {
      ...figure,
      name: 'event loop late meanwhile, p99',
      unit: 'ms',
      target: LATE_TARGET,
      ...exactly(long.window.lateMilliseconds),
    },
    { ...figure, name: 'event loop late meanwhile, longest', unit: 'ms', ...exactly(long.window.latestMilliseconds) },
  ];
}
