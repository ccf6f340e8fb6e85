import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../../src/client/connect.ts';
import { instructionsText } from '../demo/task-text.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { temporaryDirectory } from '../../test/support/servers.ts';
import { checkSoak } from './check.ts';
import { AGENT, openConversations } from './conversations.ts';
import type { Conversations } from './conversations.ts';
import { armFault, clearFaults } from './faults.ts';
import { inventJob } from './job.ts';
import { findLeft, waitForCommands } from './left.ts';
import type { SoakOptions } from './options.ts';
import { SeededRandom, seedFor } from '../random.ts';
import { soakResult } from './result.ts';
import type { SoakResult, StruckOnce } from './result.ts';
import { startServers } from './servers.ts';
import { settle } from './settle.ts';
import { strike } from './strikes.ts';
import type { Battlefield, Strike } from './strikes.ts';
import type { Interval } from './suspects.ts';
import { measureTakeover } from './takeovers.ts';
import { decide, interfere } from './users.ts';
import type { Users } from './users.ts';
import { startWorkers } from './workers.ts';

/** Beside the patience: a run that waits for takeovers freezes processes for longer than a short one. */
const SHORTEST_LONG_FREEZE_MILLISECONDS = 1_000;
/** Milliseconds until the next try when there was nothing to hit: what is tried again at once keeps the processor from the work. */
const MISS_MILLISECONDS = 100;
/** Strikes in a row that fail: a server is gone for good, and the run would say nothing. */
const MOST_FAILED_STRIKES = 10;
/** Milliseconds between two things that users and the model server do, on average. */
const INTERFERENCE_MILLISECONDS = 700;
/** Every so many strikes one is a death in a compaction, unless none came in so many tries. */
const STRIKES_PER_COMPACTION = 5;
const COMPACTION_TRIES = 5;

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
  const randomFor = (purpose: string): SeededRandom => new SeededRandom(seedFor(options.seed, purpose));
  await writeFile(join(directory, 'holdfast.yaml'), configurationText(options, randomFor('configuration')));
  const servers = await startServers(directory, options);
  const { databaseUrl, temporalAddress, simulatorUrl } = servers;
  const temporalOptions = { address: temporalAddress, namespace: 'default' };
  const database = connectDatabase({ url: databaseUrl, applicationName: 'holdfast-soak' });
  const client = await connect({ databaseUrl, temporal: temporalOptions });
  const temporal = await connectClient(temporalOptions);
  const workers = await startWorkers(directory, servers, options.workers);
  const conversations = openConversations({ client, database, random: randomFor('users'), directory }, options);
  const users = { client, database, random: randomFor('interference') };
  const leave = new AbortController();
  const deciding = decide({ client, database, random: randomFor('decisions') }, leave.signal);
  const longestFreeze = SHORTEST_LONG_FREEZE_MILLISECONDS + options.patience;
  const { at, kinds } = options;
  const open = () => conversations.open();
  const field = { servers, places: workers.places, temporal, conversations: open, longestFreeze, at, kinds };
  try {
    const strikes = await strikeAll(options, { field, conversations, users, simulatorUrl, onProgress, signal });
    await clearFaults(simulatorUrl);
    onProgress('nothing strikes any more; every turn has to reach its outcome');
    const lastStrikeAt = Date.now();
    const stuck = await settle({ database, temporal });
    const settledMilliseconds = Date.now() - lastStrikeAt;
    await waitForCommands(directory);
    await workers.stop();
    const lasted = await Promise.all(strikes.lasted);
    const { all } = conversations;
    const findings = await checkSoak({ database, temporal, directory, conversations: all, strikes: lasted });
    const struck = await Promise.all(strikes.struck);
    return { struck, stuck, settledMilliseconds, findings, conversations: all.length };
  } finally {
    leave.abort();
    await deciding;
    await workers.stop();
    await client.close();
    await temporal.connection.close();
    await database.end({ timeout: 5 });
    await servers.stop();
  }
}

/** What is the same for all strikes. */
type Field = Omit<Battlefield, 'random' | 'inCompaction'>;

interface Run {
  readonly field: Field;
  readonly conversations: Conversations;
  readonly users: Users;
  readonly simulatorUrl: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Strikes until enough have hit something, or the time is over. */
async function strikeAll(options: SoakOptions, run: Run) {
  const { kills, minutes, patience, seed } = options;
  const { field, onProgress, signal } = run;
  const end = Date.now() + minutes * 60_000;
  const struck: Promise<StruckOnce>[] = [];
  const lasted: Promise<Interval>[] = [];
  let misses = 0;
  let failedStrikes = 0;
  await run.conversations.refill();
  const calm = new AbortController();
  const others = keepBusy(run, options.window, calm.signal);
  try {
    while (struck.length < kills && Date.now() < end) {
      if (signal?.aborted === true) break;
      const random = new SeededRandom(seedFor(seed, 'strike', struck.length, misses));
      const inCompaction =
        struck.length % STRIKES_PER_COMPACTION === STRIKES_PER_COMPACTION - 1 && misses < COMPACTION_TRIES;
      const hit = await strike({ ...field, random, inCompaction }).catch((error: unknown) => {
        failedStrikes += 1;
        onProgress(`a strike failed: ${String(error)}`);
        if (failedStrikes > MOST_FAILED_STRIKES) throw error;
        return null;
      });
      if (hit !== null) {
        failedStrikes = 0;
        lasted.push(hit.lasted);
        // Awaited at the end.
        hit.lasted.catch(() => undefined);
      }
      if (hit === null || hit.hit.length === 0) {
        misses += 1;
        await delay(MISS_MILLISECONDS);
        continue;
      }
      const overcome = withTakeover(field, hit);
      struck.push(overcome);
      misses = 0;
      onProgress(`${struck.length}/${kills} ${hit.kind}: ${hit.hit.map(({ type }) => type).join(', ')}`);
      await Promise.race([overcome, delay(patience)]);
      await delay(random.between(0, Math.ceil(patience / 8)));
    }
  } finally {
    calm.abort();
    await others;
  }
  return { struck, lasted };
}

async function withTakeover({ temporal }: Field, hit: Strike): Promise<StruckOnce> {
  return { strike: hit, takeover: await measureTakeover(temporal, hit.hit, hit.at) };
}

/** Users and the model server, until it is calm: conversations that end are followed by new ones. */
async function keepBusy({ conversations, users, simulatorUrl }: Run, window: number, calm: AbortSignal): Promise<void> {
  const { random } = users;
  while (!calm.aborted) {
    await delay(random.between(0, 2 * INTERFERENCE_MILLISECONDS));
    if (random.chance(0.4)) await armFault(simulatorUrl, random, window);
    else await interfere(users, conversations, window);
    await conversations.refill();
  }
}

/** JSON is YAML too. */
function configurationText({ window }: SoakOptions, random: SeededRandom): string {
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
