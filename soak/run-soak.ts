import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../src/client/create-client.ts';
import { instructionsText } from '../src/demo/task-text.ts';
import { connectDatabase } from '../src/store/database.ts';
import { connectClient } from '../src/temporal/connect.ts';
import { temporaryDirectory } from '../test/support/servers.ts';
import { checkSoak } from './check.ts';
import { AGENT, openConversations } from './conversations.ts';
import type { Conversations } from './conversations.ts';
import { decide } from './decider.ts';
import { armFault, clearFaults } from './faults.ts';
import { exposureOf } from './exposure.ts';
import type { Exposure } from './exposure.ts';
import { inventJob } from './job.ts';
import { findLeft, waitForCommands } from './left.ts';
import type { OpenActivity } from './open-work.ts';
import type { SoakOptions } from './options.ts';
import { compactionStrikes, OWED_PATIENCE_MILLISECONDS } from './points.ts';
import { createRandom, seedFor } from './random.ts';
import type { Random } from './random.ts';
import { soakResult } from './result.ts';
import type { SoakResult, StruckOnce } from './result.ts';
import { startServers } from './servers.ts';
import { settle } from './settle.ts';
import { strike } from './strikes.ts';
import type { Battlefield, Struck } from './strikes.ts';
import { measureTakeover } from './takeovers.ts';
import type { Takeover } from './takeovers.ts';
import { startWorkers } from './workers.ts';

/** A run that waits for takeovers freezes processes beyond the heartbeat timeout of 5 s, a short one does not. */
const SHORTEST_LONG_FREEZE_MILLISECONDS = 1_000;
/** Milliseconds until the next try when there was nothing to hit: what is tried again at once keeps the processor from the work. */
const MISS_MILLISECONDS = 100;
/** Strikes in a row that fail: a server is gone for good, and the run would say nothing. */
const MOST_FAILED_STRIKES = 10;
/** Milliseconds between two things that users and the model server do, on average. */
const INTERFERENCE_MILLISECONDS = 700;

export interface SoakEvents {
  /** Told in one line what happens. */
  readonly onProgress: (line: string) => void;
}

/** Runs the soak and leaves nothing behind but, if wanted, its folder. */
export async function runSoak(
  options: SoakOptions,
  { onProgress }: SoakEvents,
  signal?: AbortSignal,
): Promise<SoakResult> {
  const startedAt = Date.now();
  const directory = await temporaryDirectory('soak');
  const inherited = process.env['TMPDIR'];
  // Marks everything that descends from here, to be found at the end.
  process.env['TMPDIR'] = directory;
  try {
    onProgress(`Postgres, Temporal, a simulator and ${options.workers} workers start in ${directory}`);
    const fought = await fight(options, directory, onProgress, signal);
    const left = await findLeft(directory);
    return soakResult(options, { ...fought, wallMilliseconds: Date.now() - startedAt, left });
  } finally {
    if (inherited === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = inherited;
    if (!options.keep) await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function fight(
  options: SoakOptions,
  directory: string,
  onProgress: (line: string) => void,
  signal: AbortSignal | undefined,
) {
  const randomFor = (purpose: string): Random => createRandom(seedFor(options.seed, purpose));
  await writeFile(join(directory, 'holdfast.yaml'), configurationText(options, randomFor('configuration')));
  const servers = await startServers(directory, options);
  const { databaseUrl, temporalAddress, simulatorUrl } = servers;
  const temporalOptions = { address: temporalAddress, namespace: 'default' };
  const database = connectDatabase({ url: databaseUrl, applicationName: 'holdfast-soak' });
  const client = await createClient({ databaseUrl, temporal: temporalOptions });
  const temporal = await connectClient(temporalOptions);
  const workers = await startWorkers(directory, servers, options.workers);
  const conversations = openConversations({ client, database, random: randomFor('users'), directory }, options);
  const endUsers = accompany({ client, database, random: randomFor('decisions') }, conversations);
  try {
    const field: Field = {
      servers,
      places: workers.places,
      temporal,
      database,
      conversations: () => conversations.open(),
      longestFreeze: SHORTEST_LONG_FREEZE_MILLISECONDS + options.patience,
      at: options.at,
      kinds: options.kinds,
    };
    const { struck, exposures } = await strikeAll(options, { field, conversations, simulatorUrl, onProgress, signal });
    await clearFaults(simulatorUrl);
    onProgress('nothing strikes any more; every turn has to reach its outcome');
    const settled = await settle({ database, temporal, conversations }, options.settling, endUsers);
    await waitForCommands(directory);
    await workers.stop();
    const findings = await checkSoak({
      database,
      temporal,
      directory,
      conversations: conversations.all,
      exposures: await Promise.all(exposures),
    });
    return {
      struck: await Promise.all(struck.map(withTakeover)),
      settled,
      findings,
      conversations: conversations.all.length,
    };
  } finally {
    await endUsers();
    await workers.stop();
    await client.close();
    await temporal.connection.close();
    await database.end({ timeout: 5 });
    await servers.stop();
  }
}

/**
 * Users who are there from the beginning to the end; returns what ends them. One wishes for a compaction even when nothing strikes
 * any more: strikes that follow each other soon may keep all turns of a short run small.
 */
function accompany(decider: Parameters<typeof decide>[0], conversations: Conversations): () => Promise<unknown> {
  const end = new AbortController();
  const users = Promise.all([decide(decider, end.signal), conversations.compactOnce(end.signal)]);
  return () => {
    end.abort();
    return users;
  };
}

/** What is the same for all strikes. */
type Field = Omit<Battlefield, 'random' | 'compaction'>;

function isOfCompaction({ type }: OpenActivity): boolean {
  return ['compactContext', 'summarize', 'commitCompaction'].includes(type);
}

type Running = Omit<StruckOnce, 'takeover'> & { readonly takeover: Promise<Takeover> };

async function withTakeover({ takeover, ...rest }: Running): Promise<StruckOnce> {
  return { ...rest, takeover: await takeover };
}

/** Strikes until enough have hit something, or the time is over. */
async function strikeAll(
  { kills, minutes, patience, seed, window }: SoakOptions,
  run: {
    readonly field: Field;
    readonly conversations: Conversations;
    readonly simulatorUrl: string;
    readonly onProgress: (line: string) => void;
    readonly signal: AbortSignal | undefined;
  },
): Promise<{ readonly struck: readonly Running[]; readonly exposures: readonly Promise<Exposure>[] }> {
  const { field, conversations, onProgress, signal } = run;
  const end = Date.now() + minutes * 60_000;
  const struck: Running[] = [];
  const exposures: Promise<Exposure>[] = [];
  let misses = 0;
  let failedStrikes = 0;
  await conversations.refill();
  const calm = new AbortController();
  const others = keepBusy({ ...run, window, random: createRandom(seedFor(seed, 'interference')) }, calm.signal);
  try {
    while (struck.length < kills && Date.now() < end) {
      if (signal?.aborted === true) break;
      const random = createRandom(seedFor(seed, 'strike', struck.length, misses));
      const wasHit = struck.some(({ strike: { hit } }) => hit.some(isOfCompaction));
      const compaction = compactionStrikes(wasHit, kills - struck.length);
      if (compaction === 'owed')
        void conversations.compactOnce(AbortSignal.any([calm.signal, AbortSignal.timeout(OWED_PATIENCE_MILLISECONDS)]));
      const hit = await strike({ ...field, random, compaction }).catch((error: unknown) => {
        failedStrikes += 1;
        onProgress(`a strike failed: ${String(error)}`);
        if (failedStrikes > MOST_FAILED_STRIKES) throw error;
        return null;
      });
      if (hit !== null) failedStrikes = 0;
      if (hit !== null) exposures.push(exposureTo(hit, onProgress));
      if (hit === null || hit.hit.length === 0) {
        misses += 1;
        await delay(MISS_MILLISECONDS);
        continue;
      }
      const takeover = measureTakeover(field.temporal, hit.hit, hit.at);
      struck.push({ strike: hit, takeover });
      misses = 0;
      onProgress(`${struck.length}/${kills} ${hit.kind}: ${hit.hit.map(({ type }) => type).join(', ')}`);
      await Promise.race([takeover, delay(patience)]);
      await delay(random.between(0, Math.ceil(patience / 8)));
    }
  } finally {
    calm.abort();
    await others;
  }
  return { struck, exposures };
}

async function exposureTo({ exposed, at, hit }: Struck, onProgress: (line: string) => void): Promise<Exposure> {
  try {
    return await exposed;
  } catch (error) {
    onProgress(`what a strike took away could not be read to its end: ${String(error)}`);
    return exposureOf(at, [{ activities: hit, summaries: [] }]);
  }
}

/** Users and the model server, until it is calm: conversations that end are followed by new ones. */
async function keepBusy(
  {
    conversations,
    simulatorUrl,
    window,
    random,
  }: {
    readonly conversations: Conversations;
    readonly simulatorUrl: string;
    readonly window: number;
    readonly random: Random;
  },
  calm: AbortSignal,
): Promise<void> {
  while (!calm.aborted) {
    await delay(random.between(0, 2 * INTERFERENCE_MILLISECONDS));
    if (random.chance(0.4)) await armFault(simulatorUrl, random, window);
    else await conversations.interfere();
    await conversations.refill();
  }
}

/** JSON is YAML too. */
function configurationText({ window }: SoakOptions, random: Random): string {
  const tools = ['list_files', 'read_file', 'write_file', 'edit_file', 'recall_search', 'recall_open'];
  return JSON.stringify({
    agents: {
      [AGENT]: {
        // Smaller than what a reading task reads, so that every one compacts.
        model: `simulator/sim-${window}k`,
        // The same for all jobs: they ask for the same facts.
        instructions: instructionsText(inventJob(2, 1, random)),
        tools: [...tools, 'run_command', 'charge', 'set_state', 'wire'],
        allowCommands: true,
        approvals: { rules: ['wire'] },
        limits: { steps: 1_000, repeatedCalls: 1_000 },
      },
    },
  });
}
