import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../store/database.ts';
import { PAYLOAD_LIMIT_BYTES } from '../temporal/payload-guard.cjs';
import { inScope } from './invariant.ts';
import type { Breach, VerifyScope } from './invariant.ts';
import type { CheckedInvariant } from './verify.ts';

/** Runs whose histories are read; each is a request or more to Temporal. */
const HISTORIES_READ = 100;

interface TurnRun {
  readonly conversationId: string;
  readonly turnId: string;
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * What Temporal must hold of the turns in Postgres. Reads descriptions and the newest histories.
 *
 * @param payloadLimit bytes that a payload may have; default: the limit that the payload guard enforces
 */
export async function verifyTemporal(
  sql: Database,
  client: Client,
  scope: VerifyScope,
  payloadLimit: number = PAYLOAD_LIMIT_BYTES,
): Promise<CheckedInvariant[]> {
  return [
    {
      name: 'open_turn_has_workflow',
      holds: 'the workflow of a turn without an outcome is open, or upkeep has yet to end the turn',
      breaches: await turnsWithoutWorkflow(sql, client, scope),
    },
    {
      name: 'payloads_are_small',
      holds: `no payload in the newest ${HISTORIES_READ} histories is larger than ${payloadLimit} bytes`,
      breaches: await largePayloads(sql, client, scope, payloadLimit),
    },
  ];
}

function newestRuns(sql: Database, scope: VerifyScope, open: boolean): Promise<TurnRun[]> {
  return sql<TurnRun[]>`
    select conversation_id as "conversationId", id as "turnId", workflow_id as "workflowId", run_id as "runId"
    from turns
    where ${inScope(sql, sql`conversation_id`, scope)}
      and ${open ? sql`outcome is null` : sql`true`}
    order by begun_at desc limit ${HISTORIES_READ}`;
}

async function turnsWithoutWorkflow(sql: Database, client: Client, scope: VerifyScope): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const { conversationId, turnId, workflowId } of await newestRuns(sql, scope, true)) {
    const status = await statusOf(client, workflowId);
    if (status !== 'RUNNING')
      breaches.push({ conversationId, subject: `turn ${turnId}`, found: `workflow ${workflowId} is ${status}` });
  }
  return breaches.slice(0, scope.limit);
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
  sql: Database,
  client: Client,
  scope: VerifyScope,
  payloadLimit: number,
): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const { conversationId, turnId, workflowId, runId } of await newestRuns(sql, scope, false)) {
    const largest = await largestPayload(client, workflowId, runId);
    if (largest > payloadLimit) {
      breaches.push({
        conversationId,
        subject: `turn ${turnId}`,
        found: `a payload of ${largest} bytes in run ${runId}`,
      });
    }
  }
  return breaches.slice(0, scope.limit);
}

/** Bytes; 0 when Temporal has forgotten the run, as it does after its retention. */
async function largestPayload(client: Client, workflowId: string, runId: string): Promise<number> {
  try {
    return largestBytes(await client.workflow.getHandle(workflowId, runId).fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 0;
    throw error;
  }
}

/** A history holds bytes in payloads only. */
function largestBytes(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((largest: number, each) => Math.max(largest, largestBytes(each)), 0);
}
