import type { Client } from '@temporalio/client';
import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../store/database/database.ts';
import { isOpenStatus } from '../temporal/newest-run.ts';
import { PAYLOAD_LIMIT_BYTES } from '../temporal/payload-guard.cjs';
import { inScope } from './invariant.ts';
import type { Breach, CheckedInvariant, VerifyScope } from './invariant.ts';

/** Turns whose histories are read unless it is said otherwise; each is a request or more to Temporal. */
const TURNS_READ = 100;

/**
 * Seconds that upkeep is given to end a lost turn: it looks every 10 s at turns that are 30 s old or older, and each of its runs may
 * take some seconds. Temporal is not asked about younger turns, and what closed since then is no breach yet.
 */
const UPKEEP_SECONDS = 60;

/** gRPC's code: reading a history fails with it as it is, describing a workflow with an error of the client's. */
const NOT_FOUND = 5;

interface TurnRun {
  readonly conversationId: string;
  readonly turnId: string;
  readonly workflowId: string;
  readonly runId: string;
}

export interface TemporalChecks {
  /** Bytes that a payload may have. Default: the limit that the payload guard enforces. */
  readonly payloadLimit?: number;
  /** Turns that are looked at, the newest; `null`: all. Default: 100. */
  readonly turns?: number | null;
  /** Seconds that upkeep is given to end a turn whose workflow is gone. Default: 60. */
  readonly upkeepSeconds?: number;
}

/** What was read of Temporal, and what it no longer has. */
export interface HistoriesRead {
  /** Turns in Postgres, of those that were asked about. */
  readonly turns: number;
  /** Turns whose runs were read; the others are older. */
  readonly turnsRead: number;
  /** Histories that were read: a long turn has several runs. */
  readonly histories: number;
  /** Runs that Temporal no longer has, as after its retention or a loss of its data: nothing is known of their payloads. */
  readonly gone: readonly { readonly conversationId: string; readonly turnId: string; readonly runId: string }[];
}

export interface TemporalVerification {
  readonly invariants: readonly CheckedInvariant[];
  readonly histories: HistoriesRead;
}

/** What Temporal must hold of the turns in Postgres. Reads descriptions and the newest histories. */
export async function verifyTemporal(
  sql: Database,
  client: Client,
  scope: VerifyScope,
  { payloadLimit = PAYLOAD_LIMIT_BYTES, turns = TURNS_READ, upkeepSeconds = UPKEEP_SECONDS }: TemporalChecks = {},
): Promise<TemporalVerification> {
  const [row] = await sql<{ turns: number }[]>`
    select count(*)::int as turns from turns where ${inScope(sql, sql`conversation_id`, scope)}`;
  const runs = await newestRuns(sql, { ...scope, turns });
  const read = await readHistories(client, runs, payloadLimit);
  const open = await newestRuns(sql, { ...scope, turns, openForSeconds: upkeepSeconds });
  return {
    invariants: [
      {
        name: 'open_turn_has_workflow',
        holds: 'the workflow of a turn without an outcome is open, or upkeep has yet to end the turn',
        breaches: await turnsWithoutWorkflow(sql, client, open, { limit: scope.limit, upkeepSeconds }),
      },
      {
        name: 'payloads_are_small',
        holds: `no payload or text in the ${read.histories} histories that were read is larger than ${payloadLimit} bytes`,
        breaches: read.large.slice(0, scope.limit),
      },
    ],
    histories: { turns: row?.turns ?? 0, turnsRead: runs.length, histories: read.histories, gone: read.gone },
  };
}

/** @param of `openForSeconds`: only those that have no outcome and began longer ago */
function newestRuns(
  sql: Database,
  of: VerifyScope & { readonly turns: number | null; readonly openForSeconds?: number },
): Promise<TurnRun[]> {
  const { turns, openForSeconds } = of;
  const isOpen = sql`outcome is null and begun_at <= holdfast_now() - make_interval(secs => ${openForSeconds ?? 0})`;
  return sql<TurnRun[]>`
    select conversation_id, id as "turnId", workflow_id, run_id
    from turns
    where ${inScope(sql, sql`conversation_id`, of)} and ${openForSeconds === undefined ? sql`true` : isOpen}
    order by begun_at desc ${turns === null ? sql`` : sql`limit ${turns}`}`;
}

/** Asking takes a while, in which turns end as they should: their workflow is closed then, and they have an outcome. */
async function turnsWithoutWorkflow(
  sql: Database,
  client: Client,
  open: readonly TurnRun[],
  { limit, upkeepSeconds }: { readonly limit: number; readonly upkeepSeconds: number },
): Promise<Breach[]> {
  const lost = new Map<string, Breach>();
  for (const { conversationId, turnId, workflowId } of open) {
    const closed = await closedFor(client, workflowId);
    if (closed === null || closed.seconds < upkeepSeconds) continue;
    const found = `workflow ${workflowId} is ${closed.status ?? 'unknown to Temporal'}`;
    lost.set(turnId, { conversationId, subject: `turn ${turnId}`, found });
  }
  if (lost.size === 0) return [];
  const stillOpen = await sql<{ id: string }[]>`
    select id from turns where id = any(${[...lost.keys()]}::uuid[]) and outcome is null
    order by begun_at desc limit ${limit}`;
  return stillOpen.flatMap(({ id }) => lost.get(id) ?? []);
}

/** Since when the workflow is closed; `null`: it is open. One that Temporal does not know was closed long ago, and has no `status`. */
async function closedFor(
  client: Client,
  workflowId: string,
): Promise<{ readonly status: string | null; readonly seconds: number } | null> {
  try {
    const { status, closeTime } = await client.workflow.getHandle(workflowId).describe();
    if (isOpenStatus(status.name)) return null;
    const closedAt = closeTime?.getTime() ?? 0;
    return { status: status.name, seconds: (Date.now() - closedAt) / 1_000 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { status: null, seconds: Number.POSITIVE_INFINITY };
    throw error;
  }
}

async function readHistories(client: Client, turns: readonly TurnRun[], payloadLimit: number) {
  const large: Breach[] = [];
  const gone: HistoriesRead['gone'][number][] = [];
  const seen = new Set<string>();
  let histories = 0;
  for (const { conversationId, turnId, workflowId, runId } of turns) {
    // A long turn goes on in a new run, and so does the next turn: each run is read once.
    for (let next: string | null = runId; next !== null && !seen.has(next);) {
      seen.add(next);
      const run: HistoryRead | null = await readRun(client, workflowId, next);
      if (run === null) {
        gone.push({ conversationId, turnId, runId: next });
        break;
      }
      histories += 1;
      if (run.largest > payloadLimit)
        large.push({ conversationId, subject: `turn ${turnId}`, found: `${run.largest} bytes in run ${next}` });
      next = run.before;
    }
  }
  return { large, gone, histories };
}

interface HistoryRead {
  readonly largest: number;
  /** The run that it continues. */
  readonly before: string | null;
}

/** `null` when Temporal no longer has the run. */
async function readRun(client: Client, workflowId: string, runId: string): Promise<HistoryRead | null> {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const before = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    return { largest: largestBytes(history), before: before === '' ? null : before };
  } catch (error) {
    const code: number | null = isGrpcServiceError(error) ? error.code : null;
    if (code === NOT_FOUND) return null;
    throw error;
  }
}

/** Of a payload, or of a text such as the message of a failure. */
function largestBytes(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((largest: number, each) => Math.max(largest, largestBytes(each)), 0);
}
