import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { turnWorkflowId } from '../../../src/turn/temporal-names.ts';
import { remark } from '../../command-line.ts';
import { untilDeathsCount } from '../../own-servers.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { exactly, quantileOf, summarize } from '../statistics.ts';
import { readStarts } from '../task-starts.ts';
import type { TaskStart } from '../task-starts.ts';
import { MortalWorkers } from '../workers/mortal-workers.ts';
import { READER } from '../workers/settings.ts';
import type { BenchWorker } from '../workers/worker-process.ts';
import { measureLosses } from './losses.ts';

const KINDS = ['tool', 'model call', 'summary', 'workflow task', 'random instant'] as const;
type Kind = (typeof KINDS)[number];

/** Milliseconds from the kill. */
const NEXT_ATTEMPT = { median: 800, p95: 1_500 };
const NEXT_MODEL_CALL = { p95: 2_000 };
/** A workflow task that has begun is not moved: it ends at its time limit of 5 s. */
const WORKFLOW_TASK = { median: 7_000, p95: 7_000 };

/** A loss takes up to a minute, so there is one of each kind in so many rounds. */
const ROUNDS_PER_LOSS = 5;

const TOOL_MILLISECONDS = 1_500;
/** Together more than the window, so that reading them is summarized. */
const FILES = 8;

interface Sample {
  /** That counts: a random instant may hit a workflow task. */
  readonly kind: Kind;
  readonly attempt: number;
  /** `null`: none followed, or it says nothing. */
  readonly modelCall: number | null;
}

type Measured = Readonly<Record<'attempt' | 'modelCall', Map<Kind, number[]>>>;

/** How soon another worker, which is idle, goes on with what a killed one did. */
export async function measureTakeover(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  for (let file = 1; file <= FILES; file += 1) {
    const lines = Array.from({ length: 120 }, (_, line) => `pump ${file * 1_000 + line} opens at ${line + file} bar\n`);
    await writeFile(join(stack.workspace, `log-${file}.txt`), lines.join(''));
  }
  await untilDeathsCount(stack.database);
  const workers = new MortalWorkers(stack);
  const measured: Measured = { attempt: new Map(), modelCall: new Map() };
  try {
    for (const kind of KINDS) {
      remark(`takeover: ${kind}`);
      for (let round = 0; round < rounds && !stack.signal.aborted; round += 1) {
        await workers.complete();
        const sample = await kill(stack, workers, kind);
        if (sample === null) continue;
        note(measured.attempt, sample.kind, sample.attempt);
        if (sample.modelCall !== null) note(measured.modelCall, sample.kind, sample.modelCall);
      }
    }
  } finally {
    await workers.stop();
  }
  return [...figuresOf(measured), ...(await measureLosses(stack, Math.ceil(rounds / ROUNDS_PER_LOSS)))];
}

function note(values: Map<Kind, number[]>, kind: Kind, value: number): void {
  values.set(kind, [...(values.get(kind) ?? []), value]);
}

function figuresOf({ attempt, modelCall }: Measured): Figure[] {
  const figure = { benchmark: 'takeover', unit: 'ms' } as const;
  const figures: Figure[] = [];
  for (const [kind, values] of attempt) {
    const target = kind === 'workflow task' ? WORKFLOW_TASK : NEXT_ATTEMPT;
    const name = `${kind}: kill → next ${kind === 'workflow task' ? 'task' : 'attempt'}`;
    figures.push({ ...figure, name, target: { atMost: target.median }, ...summarize(values) });
    const high = exactly(quantileOf(values, 0.95));
    figures.push({ ...figure, name: `${name}, p95`, p95Of: kind, target: { atMost: target.p95 }, ...high });
  }
  for (const [kind, values] of modelCall) {
    const name = `${kind}: kill → next model call`;
    figures.push({ ...figure, name, ...summarize(values) });
    const high = exactly(quantileOf(values, 0.95));
    figures.push({ ...figure, name: `${name}, p95`, target: { atMost: NEXT_MODEL_CALL.p95 }, ...high });
  }
  return figures;
}

/** @returns `null`: it hit nothing */
async function kill(stack: BenchStack, workers: MortalWorkers, kind: Kind): Promise<Sample | null> {
  const { client, signal } = stack;
  const sent = await client.start(await taskOf(stack, kind), { agent: READER });
  const workflowId = turnWorkflowId(sent.conversationId);
  const worker = await workerToKill(stack, workers, { kind, workflowId });
  if (kind === 'workflow task') await giveTask(stack, worker, workflowId);
  const killedAt = Date.now();
  worker.process.kill('SIGKILL');
  if (worker.process.signalCode === null) await once(worker.process, 'exit');
  await fetch(faultsOf(stack.connections), { method: 'DELETE', signal });
  const { outcome } = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000, signal });
  if (outcome !== 'completed') throw new Error(`a turn whose worker was killed in a ${kind} ended as ${outcome}`);
  return sampleOf(kind, await readStarts(stack.temporal, workflowId), { killedAt, dead: worker.identity });
}

function faultsOf({ simulatorUrl }: BenchStack['connections']): string {
  return `${simulatorUrl ?? ''}/control/faults`;
}

async function taskOf({ connections, signal }: BenchStack, kind: Kind): Promise<string> {
  const slow = async (purpose: string): Promise<void> => {
    await fetch(faultsOf(connections), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'delay', milliseconds: 3_000, times: null, match: { purpose } }),
      signal,
    });
  };
  switch (kind) {
    case 'model call':
      await slow('agent');
      return 'Say hello';
    case 'summary':
      await slow('summary');
      return `Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one`;
    case 'tool':
      return `Call hold with {"milliseconds": ${TOOL_MILLISECONDS}}`;
    case 'workflow task':
      return `Call hold with {"milliseconds": 10000}`;
    case 'random instant':
      return `Call hold with {"milliseconds": 200} 8 times, one by one`;
  }
}

const ACTIVITIES: Partial<Record<Kind, string>> = {
  tool: 'runTool',
  'model call': 'callModel',
  summary: 'summarize',
  'workflow task': 'runTool',
};

/** Waits until it is the moment, and says whom it hits. */
async function workerToKill(
  { temporal, signal }: BenchStack,
  workers: MortalWorkers,
  { kind, workflowId }: { readonly kind: Kind; readonly workflowId: string },
): Promise<BenchWorker> {
  if (kind === 'random instant') await sleep(500 + Math.random() * 2_500, undefined, { signal });
  for (;;) {
    signal.throwIfAborted();
    const starts = await readStarts(temporal, workflowId).catch((): TaskStart[] => []);
    const holder = starts.findLast(({ activity }) => activity === null)?.identity ?? '';
    const pending = starts.length === 0 ? [] : await pendingActivities(temporal, workflowId);
    const running = pending.find(
      ({ activityType, lastWorkerIdentity }) =>
        lastWorkerIdentity && (kind === 'random instant' || activityType?.name === ACTIVITIES[kind]),
    );
    const identity = kind === 'workflow task' && running ? holder : (running?.lastWorkerIdentity ?? '');
    const found = workers.named(kind === 'random instant' && identity === '' ? holder : identity);
    if (found !== undefined) {
      // The call is registered before it is sent.
      if (kind !== 'random instant') await sleep(200 + Math.random() * 300, undefined, { signal });
      return found;
    }
    await sleep(20, undefined, { signal });
  }
}

async function pendingActivities(temporal: Client, workflowId: string) {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities ?? [];
}

/** Frozen, it takes a task and does not answer: a kill would have to come within a few milliseconds. */
async function giveTask({ temporal, signal }: BenchStack, worker: BenchWorker, workflowId: string): Promise<void> {
  worker.process.kill('SIGSTOP');
  await temporal.workflow.getHandle(workflowId).signal('doorbell');
  const given = Date.now();
  for (;;) {
    const last = (await readStarts(temporal, workflowId)).at(-1);
    if (last?.activity === null && last.at > given - 1_000 && last.isLastEvent) return;
    await sleep(20, undefined, { signal });
  }
}

function sampleOf(
  kind: Kind,
  starts: readonly TaskStart[],
  { killedAt, dead }: { readonly killedAt: number; readonly dead: string },
): Sample | null {
  const after = starts.filter(({ at, identity }) => at > killedAt && identity !== dead);
  const hitTask = starts.some(({ identity, timedOut }) => identity === dead && timedOut);
  const counted = hitTask ? 'workflow task' : kind;
  const wanted = ACTIVITIES[counted];
  const next = after.find(({ activity, attempt }) =>
    counted === 'workflow task' ? activity === null : wanted === undefined || (activity === wanted && attempt > 1),
  );
  if (next === undefined) return null;
  const call =
    counted === 'tool' || counted === 'model call' ? after.find(({ activity }) => activity === 'callModel') : undefined;
  const toolTime = counted === 'tool' ? TOOL_MILLISECONDS : 0;
  return {
    kind: counted,
    attempt: next.at - killedAt,
    modelCall: call === undefined ? null : call.at - killedAt - toolTime,
  };
}
