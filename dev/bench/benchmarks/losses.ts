import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnWorkflowId } from '../../../src/turn/temporal-names.ts';
import { parseJournal } from '../../../src/verify/journal.ts';
import { verifyJournal } from '../../../src/verify/journal-invariants.ts';
import { verify } from '../../../src/verify/verify.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/support/tcp-proxy.ts';
import { remark } from '../../command-line.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { exactly } from '../statistics.ts';
import { JOURNAL, READER } from '../workers/settings.ts';
import type { BenchWorker } from '../workers/worker-process.ts';

/** What a worker loses while another one is idle. */
type Loss = 'Postgres' | 'Temporal' | 'its processor';

/** Milliseconds: another worker goes on after half a second if the lock is lost, and after the heartbeat timeout of 20 s if not. */
const LOSSES: readonly (readonly [loss: Loss, milliseconds: number])[] = [
  ['Postgres', 3_000],
  ['Temporal', 22_000],
  ['its processor', 60_000],
];
/** In which a worker that is back writes what it still may. */
const SETTLE_MILLISECONDS = 3_000;

/** The loss may hit any of them, or the model calls between them. */
const TASK = 'Call charge with {"item": "number $index"} 12 times, one by one';
const ANSWER_MILLISECONDS = 300;

interface CuttableWorker {
  readonly worker: BenchWorker;
  readonly proxies: Readonly<Record<'Postgres' | 'Temporal', TcpProxy>>;
}

/** Cuts a worker off Postgres alone and off Temporal alone, and freezes one, and counts what then happened twice. */
export async function measureLosses(stack: BenchStack, rounds: number): Promise<Figure[]> {
  const workers = [await startCuttable(stack), await startCuttable(stack)];
  await delayAnswers(stack);
  const figures: Figure[] = [];
  try {
    for (const [loss, milliseconds] of LOSSES) {
      remark(`takeover: a worker loses ${loss}`);
      const before = await findDoubled(stack);
      for (let round = 0; round < rounds && !stack.signal.aborted; round += 1) {
        const sent = await stack.client.start(TASK, { agent: READER });
        await sleep(500 + Math.random() * 3_000, undefined, { signal: stack.signal });
        const worker = await workerOf(stack, workers, sent.conversationId);
        await lose(worker, { loss, milliseconds, isSilent: round % 2 === 1 });
        const end = { ...sent, timeoutMilliseconds: 120_000, signal: stack.signal };
        const { outcome } = await stack.client.conversation.outcome(end);
        if (outcome !== 'completed') throw new Error(`a turn whose worker lost ${loss} ended as ${outcome}`);
        await sleep(SETTLE_MILLISECONDS, undefined, { signal: stack.signal });
      }
      figures.push(...figuresOf(loss, rounds, before, await findDoubled(stack)));
    }
  } finally {
    for (const { worker, proxies } of workers) {
      await worker.stop();
      for (const proxy of Object.values(proxies)) await proxy.close();
    }
  }
  return figures;
}

async function startCuttable(stack: BenchStack): Promise<CuttableWorker> {
  const { databaseUrl, temporalAddress } = stack.connections;
  const proxies = { Postgres: await startTcpProxy(databaseUrl), Temporal: await startTcpProxy(temporalAddress) };
  const worker = await stack.startWorker('holdfast', {
    databaseUrl: proxies.Postgres.url(databaseUrl),
    temporalAddress: proxies.Temporal.address,
  });
  return { worker, proxies };
}

async function delayAnswers({ connections, signal }: BenchStack): Promise<void> {
  await fetch(`${connections.simulatorUrl ?? ''}/control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'delay', milliseconds: ANSWER_MILLISECONDS, times: null }),
    signal,
  });
}

/** @param of isSilent: no byte passes for a while. Else connections end, and new ones are refused */
async function lose(
  { worker, proxies }: CuttableWorker,
  { loss, milliseconds, isSilent }: { readonly loss: Loss; readonly milliseconds: number; readonly isSilent: boolean },
): Promise<void> {
  if (loss === 'its processor') {
    worker.process.kill('SIGSTOP');
    await sleep(milliseconds);
    worker.process.kill('SIGCONT');
    return;
  }
  const proxy = proxies[loss];
  await (isSilent ? proxy.stall() : proxy.reset());
  await sleep(milliseconds);
  await proxy.mend();
}

async function workerOf(
  { temporal, signal }: BenchStack,
  workers: readonly CuttableWorker[],
  conversationId: string,
): Promise<CuttableWorker> {
  for (;;) {
    const { raw } = await temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
    const identities = new Set(raw.pendingActivities?.map(({ lastWorkerIdentity }) => lastWorkerIdentity));
    const found = workers.find(({ worker }) => identities.has(worker.identity));
    if (found !== undefined) return found;
    await sleep(20, undefined, { signal });
  }
}

interface Doubled {
  /** Breaches of what must hold: entries, effects and calls that are there twice, or that the ledger lacks. */
  readonly breaches: number;
  readonly callsAgain: number;
  readonly unknownOutcomes: number;
}

async function findDoubled({ database, workspace, connections, signal }: BenchStack): Promise<Doubled> {
  const { invariants, repeatedCalls } = await verify(database);
  const read = async () => parseJournal(await readFile(join(workspace, JOURNAL), 'utf8').catch(() => ''));
  const journal = await verifyJournal(database, read, { conversationId: null, limit: 20 }, ['charge']);
  const asked = await fetch(`${connections.simulatorUrl ?? ''}/control/requests?last=0`, { signal });
  const { total }: { total: number } = JSON.parse(await asked.text());
  const [ledger] = await database<{ calls: number }[]>`select count(*)::int as calls from model_attempts`;
  const broken = [...invariants, ...journal.invariants].flatMap(({ breaches }) => breaches);
  for (const { conversationId, subject, found } of broken) remark(`${conversationId} ${subject}: ${found}`);
  return {
    breaches: broken.length + Math.max(0, total - (ledger?.calls ?? 0)),
    callsAgain: repeatedCalls.reduce((sum, { tries }) => sum + tries - 1, 0),
    unknownOutcomes: journal.unknownOutcomes.length,
  };
}

function figuresOf(loss: Loss, rounds: number, before: Doubled, after: Doubled): Figure[] {
  const figure = { benchmark: 'takeover', unit: 'calls' } as const;
  const name = `${rounds} workers lost ${loss}`;
  const counted = (key: keyof Doubled) => exactly(after[key] - before[key]);
  return [
    { ...figure, name: `${name}: what happened twice`, target: { atMost: 0 }, ...counted('breaches') },
    { ...figure, name: `${name}: model calls made again, in the ledger`, ...counted('callsAgain') },
    { ...figure, name: `${name}: \`once\` calls of unknown outcome`, ...counted('unknownOutcomes') },
  ];
}
