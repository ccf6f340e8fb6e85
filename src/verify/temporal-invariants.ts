import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../store/database.ts';
import { PAYLOAD_LIMIT_BYTES } from '../temporal/payload-guard.cjs';
import { inScope } from './invariant.ts';
import type { Breach, VerifyScope } from './invariant.ts';
import type { CheckedInvariant } from './verify.ts';

/** Turns whose histories are read unless it is said otherwise; each is a request or more to Temporal. */
const TURNS_READ = 100;

interface TurnRun {
  readonly conversationId: string;
  readonly turnId: string;
  readonly workflowId: string;
  readonly runId: string;
}

export interface TemporalChecks {
  /** Bytes that a payload may have. Default: the limit that the payload guard enforces. */
  readonly payloadLimit?: number;
  /** Turns that are looked at, the newest. Default: 100. */
  readonly turns?: number;
}

/** What Temporal must hold of the turns in Postgres. Reads descriptions and the newest histories. */
export async function verifyTemporal(
  sql: Database,
  client: Client,
  scope: VerifyScope,
  { payloadLimit = PAYLOAD_LIMIT_BYTES, turns = TURNS_READ }: TemporalChecks = {},
): Promise<CheckedInvariant[]> {
  return [
    {
      name: 'open_turn_has_workflow',
      holds: 'the workflow of a turn without an outcome is open, or upkeep has yet to end the turn',
      breaches: await turnsWithoutWorkflow(client, await newestRuns(sql, { ...scope, turns, open: true }), scope.limit),
    },
    {
      name: 'payloads_are_small',
      holds: `no payload or text in the histories of the newest ${turns} turns is larger than ${payloadLimit} bytes`,
      breaches: await largePayloads(client, await newestRuns(sql, { ...scope, turns, open: false }), {
        limit: scope.limit,
        payloadLimit,
      }),
    },
  ];
}

function newestRuns(
  sql: Database,
  { turns, open, ...scope }: VerifyScope & { readonly turns: number; readonly open: boolean },
): Promise<TurnRun[]> {
  return sql<TurnRun[]>`
    select conversation_id as "conversationId", id as "turnId", workflow_id as "workflowId", run_id as "runId"
    from turns
    where ${inScope(sql, sql`conversation_id`, scope)}
      and ${open ? sql`outcome is null` : sql`true`}
    order by begun_at desc limit ${turns}`;
}

async function turnsWithoutWorkflow(client: Client, open: readonly TurnRun[], limit: number): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const { conversationId, turnId, workflowId } of open) {
    const status = await statusOf(client, workflowId);
    if (status !== 'RUNNING')
      breaches.push({ conversationId, subject: `turn ${turnId}`, found: `workflow ${workflowId} is ${status}` });
  }
  return breaches.slice(0, limit);
}

async function statusOf(client: Client, workflowId: string): Promise<string> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown to Temporal';
    throw error;
  }
}

async function largePayloads(
  client: Client,
  turns: readonly TurnRun[],
  { limit, payloadLimit }: { readonly limit: number; readonly payloadLimit: number },
): Promise<Breach[]> {
  const breaches: Breach[] = [];
  const read = new Set<string>();
  for (const { conversationId, turnId, workflowId, runId } of turns) {
    // A long turn goes on in a new run, and so does the next turn: each run is read once.
    for (let next: string | null = runId; next !== null && !read.has(next);) {
      read.add(next);
      const { largest, before } = await readRun(client, workflowId, next);
      if (largest > payloadLimit)
        breaches.push({ conversationId, subject: `turn ${turnId}`, found: `${largest} bytes in run ${next}` });
      next = before;
    }
  }
  return breaches.slice(0, limit);
}

/** Bytes, 0 when Temporal has forgotten the run, as it does after its retention, and the run that it continues. */
async function readRun(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<{ readonly largest: number; readonly before: string | null }> {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const before = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    return { largest: largestBytes(history), before: before === '' ? null : before };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { largest: 0, before: null };
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
