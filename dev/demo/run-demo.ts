import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plural, formatBytes, formatCount } from '../../src/cli/render/text/numbers.ts';
import { entryOfEvent } from '../../src/cli/follow/entry-of-event.ts';
import type { Output } from '../../src/cli/output.ts';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { temporalAt } from '../../src/temporal/profile.ts';
import { removeOwnDirectory, untilDeathsCount, withoutServers } from '../own-servers.ts';
import { auditLog } from './audit.ts';
import { checkReport } from './check-report.ts';
import { AGENT, WORKSPACE, modelOf, requireKey } from './configuration.ts';
import { DemoScreen } from './demo-screen.ts';
import { finalReportLines, nextStepLines } from './final-report.ts';
import { readHistory } from './history.ts';
import { packageJob } from './input/installed-packages.ts';
import { byteCount, factCount, filesOf } from './job.ts';
import type { Job } from './job.ts';
import type { DemoOptions } from './options.ts';
import { demoResult } from './result.ts';
import type { DemoResult } from './result.ts';
import { prepareDirectory, startDemoStack } from './stack.ts';
import { REPORT_PATH, taskText } from './task-text.ts';
import { plannedKills, startWorkers } from './workers.ts';
import type { Workers } from './workers.ts';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

interface Demo {
  readonly options: DemoOptions;
  readonly output: Output;
  readonly job: Job;
  readonly directory: string;
  readonly stack: LocalStack;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

/**
 * Runs the demo from start to end and leaves nothing behind, unless it is to be kept.
 * @returns `null` when it was interrupted
 */
export async function runDemo(options: DemoOptions, output: Output, signal: AbortSignal): Promise<DemoResult | null> {
  const startedAt = Date.now();
  requireKey(options, process.env);
  const job = packageJob(MODULES, options.window);
  output.lines(headLines(job, options, output));
  const directory = await prepareDirectory(options, job);
  let result: DemoResult | null = null;
  try {
    const stack = await startDemoStack(directory, options, signal);
    try {
      result = await playDemo({ options, output, job, directory, stack, startedAt, signal });
    } finally {
      await stack.stop();
    }
  } catch (error) {
    if (!signal.aborted) {
      // They tell what happened; the next demo removes them.
      output.remark(`Logs of this demo: ${join(directory, 'logs')}`);
      throw error;
    }
  }
  if (!options.keep || result === null) await removeOwnDirectory(directory);
  return result;
}

function headLines(job: Job, options: DemoOptions, { style }: Output): string[] {
  const files = filesOf(job);
  const compaction = options.compaction ? '' : ', without compaction';
  return [
    style.bold(
      `Holdfast demo: ${plural(job.items.length, job.noun)}, ${plural(files.length, 'file')}, ${formatBytes(byteCount(files))}; ` +
        `${plural(factCount(job), 'fact')} asked; ${modelOf(options)}, window of ${formatCount(options.window)} tokens${compaction}`,
    ),
    style.dim('Starting Postgres, Temporal and workers of its own.'),
  ];
}

async function playDemo(demo: Demo): Promise<DemoResult | null> {
  const { options, output, stack, directory, signal } = demo;
  const { databaseUrl, databaseListenUrl: listenUrl } = stack.connections;
  const client = await connect({
    databaseUrl,
    ...(listenUrl !== null && { listenUrl }),
    temporal: temporalAt(stack.connections, withoutServers(process.env)),
  });
  try {
    return await runTurn(demo, client, async (result) => {
      output.lines(finalReportLines(result, plannedKills(options).length, output.style));
      const temporalUi = stack.current().temporal?.uiUrl ?? null;
      const report = join(directory, WORKSPACE, REPORT_PATH);
      output.lines(nextStepLines(result.conversationId, options.keep ? { directory, temporalUi, report } : null));
      // The worker goes on serving meanwhile, so that what was printed can be tried.
      if (options.keep) await aborted(signal);
    });
  } finally {
    await client.close();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Starts the workers, sends the task, follows the turn to its end and checks what came out. */
async function runTurn(
  demo: Demo,
  client: Holdfast,
  report: (result: DemoResult) => Promise<void>,
): Promise<DemoResult | null> {
  const { options, output, job, directory, stack, startedAt, signal } = demo;
  const kills = plannedKills(options);
  const files = filesOf(job).map(({ path }) => path);
  const screen = new DemoScreen(output, { window: options.window, files, startedAt });
  const failed = new AbortController();
  let workers: Workers | undefined;
  try {
    workers = await startWorkers(
      {
        connections: stack.connections,
        environment: withoutServers(process.env),
        directory,
        logDirectory: stack.logDirectory,
      },
      kills,
      {
        onServing: (processId) => screen.serves(processId),
        onKilled: (kill) => screen.killed(kill),
        onFailed: (error) => failed.abort(error),
      },
    );
    if (kills.length > 0) await untilKillsShow(stack, signal);
    const { conversationId } = await client.start(taskText(job), { agent: AGENT });
    const sentAt = Date.now();
    const silence = watchSilence((error) => failed.abort(error));
    const turnId = await followEvents(client, conversationId, {
      signal: AbortSignal.any([signal, failed.signal]),
      onEvent: (event, entry) => {
        silence.refresh();
        screen.event(event, entry);
        workers?.filesRead(screen.filesRead.size).catch((error: unknown) => failed.abort(error));
      },
    }).finally(() => clearTimeout(silence));
    failed.signal.throwIfAborted();
    if (turnId === null) return null;
    const turnMilliseconds = Date.now() - sentAt;
    const result = await examine(demo, client, {
      conversationId,
      turnId,
      turnMilliseconds,
      takeovers: screen.takeovers,
    });
    screen.close();
    await report(result);
    return result;
  } finally {
    screen.close();
    await workers?.stop();
  }
}

/** So that the other worker goes on as soon as on a server that runs for longer. */
async function untilKillsShow({ connections }: LocalStack, signal: AbortSignal): Promise<void> {
  const database = connectDatabase({ url: connections.databaseUrl, applicationName: 'holdfast-demo' });
  await Promise.race([untilDeathsCount(database), aborted(signal)]);
  await database.end({ timeout: 0 });
}

/** Tells each event of the conversation's turn, with the entry that came with it. @returns the turn's id at its end; `null`: aborted */
async function followEvents(
  client: Holdfast,
  conversationId: string,
  options: {
    readonly signal: AbortSignal;
    readonly onEvent: (event: TimelineEvent, entry: ListedEntry | null) => void;
  },
): Promise<string | null> {
  for await (const update of client.conversation.watch({ conversationId, liveText: false, signal: options.signal })) {
    if (update.type !== 'event') continue;
    const { event } = update;
    options.onEvent(event, await entryOfEvent(client, event));
    if (event.kind === 'turn_ended') return event.turnId;
  }
  return null;
}

/** Longer than any model thinks; then something is broken, and a demo that waits for ever shows nothing. */
const PATIENCE_MILLISECONDS = 300_000;

function watchSilence(onSilence: (error: Error) => void): NodeJS.Timeout {
  const minutes = PATIENCE_MILLISECONDS / 60_000;
  return setTimeout(() => onSilence(new Error(`Nothing happened for ${minutes} minutes.`)), PATIENCE_MILLISECONDS);
}

interface PlayedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly turnMilliseconds: number;
  readonly takeovers: DemoScreen['takeovers'];
}

async function examine(demo: Demo, client: Holdfast, played: PlayedTurn): Promise<DemoResult> {
  const { options, job, directory, stack, startedAt } = demo;
  const database = connectDatabase({ url: stack.connections.databaseUrl, applicationName: 'holdfast-demo' });
  const temporal = await connectClient(temporalAt(stack.connections, withoutServers(process.env)));
  try {
    const [log, history, { turn }, text] = await Promise.all([
      auditLog(database, played.conversationId, played.turnId),
      readHistory(temporal, played.conversationId),
      client.conversation.get({ conversationId: played.conversationId }),
      readFile(join(directory, WORKSPACE, REPORT_PATH), 'utf8').catch(() => null),
    ]);
    return demoResult({
      ...played,
      model: modelOf(options),
      job,
      window: options.window,
      report: checkReport(job, text),
      log,
      history,
      explanation: turn?.explanation ?? null,
      wallMilliseconds: Date.now() - startedAt,
    });
  } finally {
    await temporal.connection.close();
    await database.end({ timeout: 1 });
  }
}
