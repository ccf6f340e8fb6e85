import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { runTurn } from '../measured-turn.ts';
import { exactly, median, summarize } from '../statistics.ts';
import { measureSize } from './load-size.ts';
import type { SizeOptions } from './load-size.ts';
import type { BenchWorker } from '../workers/worker-process.ts';

const OPEN_TURNS = 200;
const ACTIVE_TURNS = 20;
const HEAP_MEBIBYTES = 512;
/** Every open turn that rests holds one. */
const SLOTS = OPEN_TURNS + ACTIVE_TURNS;
const STEPS = 11;
const SAMPLES = 10;
const MEBIBYTE = 1_024 ** 2;

const LONG_MODEL = 'simulator/sim-2000k-verbose';
/** About a million tokens in 40 messages, and an answer of about 1 MB. */
const MESSAGES = 40;
const MESSAGE_WORDS = 25_000;
const ANSWER_WORDS = 230_000;

export interface LoadOptions extends SizeOptions {
  readonly minutes: number;
}

/** 200 turns open in one small worker, and a step in a database of 2,000 conversations against one in an empty database. */
export async function measureLoad(
  stack: BenchStack,
  options: LoadOptions,
  events: { readonly signal: AbortSignal; readonly onBegin: (name: string) => void },
): Promise<Figure[]> {
  await writeFile(
    join(stack.workspace, 'holdfast.yaml'),
    `models:\n  ${LONG_MODEL}:\n    window: 2048000\n    maximumOutput: 512000\n`,
  );
  const worker = await stack.startWorker('holdfast', { heapMebibytes: HEAP_MEBIBYTES, concurrentWork: SLOTS });
  try {
    const size = await measureSize(stack, options, events);
    if (events.signal.aborted) return size;
    events.onBegin(`load: ${OPEN_TURNS} open turns, ${options.minutes} minutes`);
    return [...size, ...(await measureOpenTurns(stack, worker, { ...options, signal: events.signal }))];
  } finally {
    await worker.stop();
  }
}

async function measureOpenTurns(
  stack: BenchStack,
  worker: BenchWorker,
  { minutes, signal }: { readonly minutes: number; readonly signal: AbortSignal },
): Promise<Figure[]> {
  const resting = await Promise.all(
    Array.from({ length: OPEN_TURNS - ACTIVE_TURNS }, () => stack.client.startTask({ task: 'Call rest with {}' })),
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
  const memory: { readonly heap: number; readonly resident: number; readonly late: number }[] = [];
  const sample = async (): Promise<void> => {
    const { heapBytes, residentBytes, lateMilliseconds } = await worker.memory();
    memory.push({ heap: heapBytes / MEBIBYTE, resident: residentBytes / MEBIBYTE, late: lateMilliseconds });
  };
  for (let number = 1; number < SAMPLES; number += 1) {
    await until(end - ((SAMPLES - number) * minutes * 60_000) / SAMPLES, signal);
    await sample();
  }
  const long = await measureLongView(stack, worker);
  await Promise.all(active);
  await sample();
  const lost = await attemptsLost(stack);
  await Promise.all(resting.map(({ conversationId }) => stack.client.stop({ conversationId })));
  await Promise.all(resting.map((sent) => stack.client.waitForOutcome({ ...sent, signal })));
  return figuresOf({ memory, long, lost, steps, minutes });
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  while (Date.now() < time && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** How late the event loop is while a view of a million tokens is built and an answer of 1 MB streams, beside all the rest. */
async function measureLongView(
  stack: BenchStack,
  worker: BenchWorker,
): Promise<{ readonly late: number; readonly tokens: number }> {
  const { client } = stack;
  const first = await client.startTask({ task: 'Say ready', model: LONG_MODEL });
  await client.waitForOutcome(first);
  const { conversationId } = first;
  for (let number = 0; number < MESSAGES; number += 1) {
    await client.sendMessage({ conversationId, content: `${number} ${'word '.repeat(MESSAGE_WORDS)}`, mode: 'steer' });
  }
  const last = await client.sendMessage({ conversationId, content: `Write ${ANSWER_WORDS} words`, mode: 'queue' });
  await worker.memory();
  const turn = await client.waitForOutcome({ ...last, signal: stack.signal });
  const { lateMilliseconds } = await worker.memory();
  if (turn.outcome !== 'completed') throw new Error(`the turn with the long view ended as ${turn.outcome}`);
  const calls = await client.listModelCalls({ conversationId });
  return { late: lateMilliseconds, tokens: calls.at(-1)?.reportedTokens ?? 0 };
}

/** Attempts that were made again because Temporal had not heard of the worker: it was never killed. */
async function attemptsLost({ database }: BenchStack): Promise<number> {
  const [row] = await database<{ lost: number }[]>`
    select ((select count(*) from tool_calls where attempt > 1) + (select count(*) from model_calls where attempt > 1))::int as lost`;
  return row?.lost ?? 0;
}

function figuresOf(measured: {
  readonly memory: readonly { readonly heap: number; readonly resident: number; readonly late: number }[];
  readonly long: { readonly late: number; readonly tokens: number };
  readonly lost: number;
  readonly steps: number;
  readonly minutes: number;
}): Figure[] {
  const { memory, long, lost, steps, minutes } = measured;
  const figure = { benchmark: 'load' } as const;
  const early = memory.slice(1, 4).map(({ heap }) => heap);
  const late = memory.slice(-3).map(({ heap }) => heap);
  return [
    { ...figure, name: `steps in ${minutes} minutes`, unit: 'steps/s', ...exactly(steps / (minutes * 60)) },
    { ...figure, name: 'heap', unit: 'MiB', ...summarize(memory.map(({ heap }) => heap)) },
    { ...figure, name: 'resident', unit: 'MiB', ...summarize(memory.map(({ resident }) => resident)) },
    {
      ...figure,
      name: 'heap, end / beginning',
      unit: '×',
      target: { atMost: 1.2 },
      ...exactly(median(late) / median(early)),
    },
    { ...figure, name: 'attempts lost', unit: 'events', target: { atMost: 0 }, ...exactly(lost) },
    {
      ...figure,
      name: 'event loop late, p99',
      unit: 'ms',
      target: { atMost: 50 },
      ...summarize(memory.map(({ late: each }) => each)),
    },
    {
      ...figure,
      name: 'view of the long call',
      unit: 'tokens',
      target: { atLeast: 1_000_000 },
      ...exactly(long.tokens),
    },
    { ...figure, name: 'event loop late meanwhile, p99', unit: 'ms', target: { atMost: 50 }, ...exactly(long.late) },
  ];
}
