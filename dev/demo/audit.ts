import { estimateTokens } from '../../src/context/log/estimate.ts';
import { addMeasurements } from '../../src/context/log/measurements.ts';
import { readCalibration } from '../../src/store/providers/calibrations.ts';
import type { Database } from '../../src/store/database/database.ts';
import { parseMeasurements } from '../../src/store/log/measurement-columns.ts';
import { readSnapshot } from '../../src/store/turns/turns.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../src/tools/runtime/names.ts';
import { pathArgument } from './demo-screen.ts';

/** What Postgres holds of the conversation, counted by queries of the demo's own. */
export interface LogAudit {
  readonly entries: number;
  /** Numbers missing in the sequence, answers without an entry for each of their calls, and calls without a result. */
  readonly lostEntries: number;
  /** Entries with a number, answers to a call, or results of a tool call that are there twice. */
  readonly doubledEntries: number;
  readonly steps: number;
  /** Agent and summaries, paid ones; repeated calls included. */
  readonly modelCalls: number;
  readonly overflows: number;
  /** Largest input of a model call of the agent, as the provider counted it. */
  readonly maxTokens: number;
  readonly compactions: number;
  /** Paths of which a page was read. */
  readonly pathsRead: ReadonlySet<string>;
  readonly lookups: number;
  readonly outcome: string | null;
  readonly reason: string | null;
  /** Tokens of the last request if nothing had been compacted: the whole log by the calibrated estimate. */
  readonly tokensWithoutCompaction: number;
}

/** @param turnId the demo's only turn */
export async function auditLog(sql: Database, conversationId: string, turnId: string): Promise<LogAudit> {
  const [log, calls, tools, turn, tokensWithoutCompaction] = await Promise.all([
    countEntries(sql, conversationId),
    countModelCalls(sql, turnId),
    countToolCalls(sql, turnId),
    readTurn(sql, turnId),
    estimateWhole(sql, conversationId, turnId),
  ]);
  return {
    entries: log.entries,
    lostEntries: log.lost + tools.lost + calls.lost,
    doubledEntries: log.doubled + tools.doubled + calls.doubled,
    steps: calls.steps,
    overflows: calls.overflows,
    maxTokens: calls.maxTokens,
    pathsRead: tools.pathsRead,
    lookups: tools.lookups,
    ...turn,
    tokensWithoutCompaction,
  };
}

async function countEntries(sql: Database, conversationId: string) {
  const [row] = await sql<{ entries: number; numbers: number; highest: number }[]>`
    select count(*)::int as entries, count(distinct sequence)::int as numbers, coalesce(max(sequence), 0) as highest
    from entries where conversation_id = ${conversationId}`;
  const { entries = 0, numbers = 0, highest = 0 } = row ?? {};
  return { entries, lost: highest - numbers, doubled: entries - numbers };
}

/** Each call number of the turn has one answer, except the last of a turn that did not complete. */
async function countModelCalls(sql: Database, turnId: string) {
  const [row] = await sql<{ steps: number; answers: number; highest: number; overflows: number; maxTokens: number }[]>`
    select
      (select count(distinct call_number)::int from entries where turn_id = ${turnId} and kind = 'assistant') as steps,
      (select count(*)::int from entries where turn_id = ${turnId} and kind = 'assistant') as answers,
      coalesce(max(call_number) filter (where state = 'answered'), 0) as highest,
      count(*) filter (where failure_kind = 'overflow')::int as overflows,
      coalesce(max(input_tokens), 0) as max_tokens
    from model_attempts where purpose = 'step' and turn_id = ${turnId}`;
  const { steps = 0, answers = 0, overflows = 0, maxTokens = 0 } = row ?? {};
  const [missing] = await sql<{ count: number }[]>`
    select count(*)::int as count from model_attempts m
    where m.purpose = 'step' and m.turn_id = ${turnId} and m.state = 'answered'
      and not exists (select from entries e where e.turn_id = m.turn_id and e.call_number = m.call_number and e.kind = 'assistant')`;
  return { steps, overflows, maxTokens, lost: missing?.count ?? 0, doubled: answers - steps };
}

/** Every call that an answer makes stands in the ledger and has exactly one result in the log. */
async function countToolCalls(sql: Database, turnId: string) {
  const [asked] = await sql<{ count: number }[]>`
    select coalesce(sum(tool_call_count), 0)::int as count from entries where turn_id = ${turnId} and kind = 'assistant'`;
  const rows = await sql<{ name: string; arguments: unknown; outcome: string | null; results: number }[]>`
    select t.name, t.arguments, t.outcome, count(e.id)::int as results
    from tool_calls t
    left join entries e on e.turn_id = t.turn_id and e.call_number = t.call_number and e.call_index = t.call_index
      and e.kind = 'tool_result'
    where t.turn_id = ${turnId}
    group by t.conversation_id, t.turn_id, t.call_number, t.call_index`;
  const reads = rows.filter(({ name, outcome }) => name === 'read_file' && outcome === 'succeeded');
  return {
    lost: Math.max(0, (asked?.count ?? 0) - rows.length) + rows.filter(({ results }) => results === 0).length,
    doubled: rows.reduce((sum, { results }) => sum + Math.max(0, results - 1), 0),
    pathsRead: new Set(reads.flatMap((row) => pathArgument(String(row.arguments)) ?? [])),
    lookups: rows.filter(({ name }) => name === RECALL_SEARCH || name === RECALL_OPEN).length,
  };
}

async function readTurn(sql: Database, turnId: string) {
  const [row] = await sql<{ outcome: string | null; reason: string | null; modelCalls: number; compactions: number }[]>`
    select t.outcome, t.reason, u.model_calls,
      (select count(*)::int from compactions c where c.turn_id = t.id and c.status = 'committed') as compactions
    from turns t join turn_usage u on u.turn_id = t.id where t.id = ${turnId}`;
  return {
    outcome: row?.outcome ?? null,
    reason: row?.reason ?? null,
    modelCalls: row?.modelCalls ?? 0,
    compactions: row?.compactions ?? 0,
  };
}

/**
 * What the last request would have held: the log without what only compaction brought into it (lookups, notes to go
 * on), by what the provider's counts have taught.
 */
async function estimateWhole(sql: Database, conversationId: string, turnId: string): Promise<number> {
  const [row] = await sql<{ log: string | null }[]>`
    select sum(e.measurements)::text as log from entries e
    where e.conversation_id = ${conversationId} and e.slot is distinct from 'continuation'
      and (e.tool_name is null or e.tool_name not in (${RECALL_SEARCH}, ${RECALL_OPEN}))`;
  if (row === undefined || row.log === null) return 0;
  const { snapshot, fixed } = await readSnapshot(sql, turnId);
  const calibration = await readCalibration(sql, {
    conversationId,
    model: snapshot.model,
    limits: snapshot.modelLimits,
  });
  return estimateTokens(addMeasurements(parseMeasurements(row.log), fixed), calibration);
}
