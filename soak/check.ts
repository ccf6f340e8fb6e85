import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { checkReport } from '../src/demo/check-report.ts';
import { REPORT_PATH } from '../src/demo/task-text.ts';
import type { Database } from '../src/store/database.ts';
import { verifyTemporal } from '../src/verify/temporal-invariants.ts';
import { verify } from '../src/verify/verify.ts';
import type { SoakConversation } from './conversations.ts';
import type { OpenRow, OpenRows } from './open-work.ts';
import { JOURNAL } from './workers.ts';

/** More than any run has. */
const ALL_TURNS = 100_000;

/** Something that must hold and does not. */
export interface Violation {
  /** Stable name. */
  readonly name: string;
  readonly found: string;
}

/** Model calls that were paid more than once. */
export interface RepeatedModelCalls {
  readonly calls: number;
  /** Tries beyond the first of each. */
  readonly extraTries: number;
  /** Model calls that strikes met, each once for a strike: so many may be paid again. */
  readonly met: number;
  /** Each call by its key, `turn:call` or `compaction:part`, with the number of strikes that were seen to meet it. */
  readonly list: readonly { readonly key: string; readonly tries: number; readonly met: number }[];
}

export interface SoakFindings {
  readonly violations: readonly Violation[];
  readonly outcomes: Readonly<Record<string, number>>;
  readonly repeatedModelCalls: RepeatedModelCalls;
  readonly unknownOutcomes: number;
  readonly effects: number;
  readonly factsRight: number;
  readonly factsChecked: number;
}

export interface SoakEvidence {
  readonly database: Database;
  readonly temporal: Client;
  readonly directory: string;
  readonly conversations: readonly SoakConversation[];
  /** What each strike left open. */
  readonly open: readonly OpenRows[];
}

/** Reads Postgres, Temporal, the journal and the reports. */
export async function checkSoak(evidence: SoakEvidence): Promise<SoakFindings> {
  const { database, temporal } = evidence;
  const verification = await verify(database);
  const scope = { conversationId: null, limit: 20 };
  const asked = await verifyTemporal(database, temporal, scope, { turns: ALL_TURNS });
  const broken = [...verification.invariants, ...asked].flatMap(({ name, breaches }) =>
    breaches.map(({ conversationId, subject, found }) => ({ name, found: `${conversationId} ${subject}: ${found}` })),
  );
  const [effects, unknown, facts, outcomes] = await Promise.all([
    checkJournal(evidence),
    checkUnknownOutcomes(evidence),
    checkReports(evidence),
    countOutcomes(database),
  ]);
  const repeatedModelCalls = countRepeated(
    verification.repeatedCalls.map(({ turnId, callNumber, summary, tries }) => ({
      key:
        summary === null || summary.compactionId === null
          ? `${turnId}:${callNumber}`
          : `${summary.compactionId}:${summary.part}`,
      tries,
    })),
    evidence.open.map(({ modelCalls }) => modelCalls),
  );
  return {
    violations: [
      ...broken,
      ...effects.violations,
      ...unknown.violations,
      ...facts.violations,
      ...paidTooOften(repeatedModelCalls),
      ...(await findInterrupted(database)),
    ],
    outcomes,
    repeatedModelCalls,
    unknownOutcomes: unknown.count,
    effects: effects.count,
    factsRight: facts.right,
    factsChecked: facts.checked,
  };
}

/** How many strikes met each call. */
function countStrikes(openAtEach: readonly (readonly OpenRow[])[]): Map<string, number> {
  const strikes = new Map<string, number>();
  for (const open of openAtEach) {
    for (const key of new Set(open.map((row) => row.key))) strikes.set(key, (strikes.get(key) ?? 0) + 1);
  }
  return strikes;
}

export function countRepeated(
  calls: readonly { readonly key: string; readonly tries: number }[],
  openAtEach: readonly (readonly OpenRow[])[],
): RepeatedModelCalls {
  const strikes = countStrikes(openAtEach);
  return {
    calls: calls.length,
    extraTries: calls.reduce((sum, { tries }) => sum + tries - 1, 0),
    met: [...strikes.values()].reduce((sum, times) => sum + times, 0),
    list: calls.map((call) => ({ ...call, met: strikes.get(call.key) ?? 0 })),
  };
}

/**
 * Counted over the run: a call that begins between the look at what is open and the death of its worker is met, and not seen
 * to be.
 */
export function paidTooOften({ extraTries, met }: RepeatedModelCalls): Violation[] {
  if (extraTries <= met) return [];
  return [{ name: 'model_calls_paid_again', found: `${extraTries} tries more; strikes met ${met} model calls` }];
}

/** What happened to calls more often than strikes met them. */
export function unexplained(
  name: string,
  calls: readonly { readonly key: string; readonly times: number }[],
  openAtEach: readonly (readonly OpenRow[])[],
): Violation[] {
  const strikes = countStrikes(openAtEach);
  return calls.flatMap(({ key, times }) => {
    const met = strikes.get(key) ?? 0;
    return times <= met ? [] : [{ name, found: `${key} ${times} times, open at ${met} strikes` }];
  });
}

interface JournalLine {
  readonly tool: string;
  readonly effect: 'idempotent' | 'once';
  readonly key: string;
}

/** Every effect belongs to a call, none of `once` happened twice, and a call that succeeded has its effect. */
async function checkJournal({ database, directory }: SoakEvidence) {
  const text = await readFile(join(directory, JOURNAL), 'utf8').catch(() => '');
  const lines = text.split('\n').flatMap((line): JournalLine[] => (line === '' ? [] : [JSON.parse(line)]));
  const calls = await database<{ key: string; name: string; outcome: string | null }[]>`
    select turn_id || ':' || call_number || ':' || call_index as key, name, outcome from tool_calls
    where name in ('charge', 'wire', 'set_state')`;
  const known = new Map(calls.map((call) => [call.key, call]));
  const done = new Map<string, number>();
  for (const { key } of lines) done.set(key, (done.get(key) ?? 0) + 1);
  const violations: Violation[] = [];
  for (const { key, effect } of new Map(lines.map((line) => [line.key, line])).values()) {
    const outcome = known.get(key)?.outcome;
    if (outcome === undefined) violations.push({ name: 'effect_without_call', found: key });
    if (outcome === 'not_run') violations.push({ name: 'effect_of_call_not_run', found: key });
    const times = done.get(key) ?? 0;
    if (effect === 'once' && times > 1) violations.push({ name: 'effect_twice', found: `${key}: ${times} times` });
  }
  for (const { key, outcome } of calls) {
    if (outcome === 'succeeded' && !done.has(key)) violations.push({ name: 'success_without_effect', found: key });
  }
  return { violations, count: done.size };
}

async function checkUnknownOutcomes({ database, open }: SoakEvidence) {
  const rows = await database<{ key: string; outcome: string | null }[]>`
    select t.turn_id || ':' || t.call_number || ':' || t.call_index as key, u.outcome
    from tool_calls t join turns u on u.id = t.turn_id where t.outcome = 'outcome_unknown'`;
  // A stop ends calls that it finds running.
  const byStrike = rows.filter(({ outcome }) => outcome !== 'stopped');
  const violations = unexplained(
    'outcome_unknown',
    byStrike.map(({ key }) => ({ key, times: 1 })),
    open.map(({ toolCalls }) => toolCalls),
  );
  return { violations, count: rows.length };
}

/**
 * The reports of turns that say that they are complete. After a turn that was stopped or failed the simulator first goes
 * on with what that one left, as a user who says so would want: such a conversation owes no report.
 */
async function checkReports({ database, conversations }: SoakEvidence) {
  const ids = conversations.map(({ readingMessageId }) => readingMessageId);
  const rows = await database<{ id: string }[]>`
    select m.id from messages m join turns t on t.id = m.turn_id
    where m.id = any(${ids}) and t.outcome = 'completed' and not exists (
      select from turns e
      where e.conversation_id = t.conversation_id and e.begun_at < t.begun_at and e.outcome <> 'completed')`;
  const completed = new Set(rows.map(({ id }) => id));
  const violations: Violation[] = [];
  let right = 0;
  let checked = 0;
  for (const { conversationId, job, workspace, readingMessageId } of conversations) {
    if (!completed.has(readingMessageId)) continue;
    const check = checkReport(job, await readFile(join(workspace, REPORT_PATH), 'utf8').catch(() => null));
    right += check.right;
    checked += check.right + check.wrong.length;
    for (const { label, column, expected, found } of check.wrong)
      violations.push({ name: 'fact_wrong', found: `${conversationId} ${label} ${column}: ${found}, not ${expected}` });
    for (const label of check.doubled) violations.push({ name: 'row_twice', found: `${conversationId} ${label}` });
  }
  return { violations, right, checked };
}

/** No strike takes Temporal's data away, so no turn may end for a reason of its machinery. */
async function findInterrupted(database: Database): Promise<Violation[]> {
  const rows = await database<{ id: string; reason: string | null }[]>`
    select id, reason from turns where outcome = 'interrupted'`;
  return rows.map(({ id, reason }) => ({ name: 'turn_interrupted', found: `turn ${id}: ${reason}` }));
}

async function countOutcomes(database: Database): Promise<Record<string, number>> {
  const rows = await database<{ outcome: string | null; count: number }[]>`
    select outcome, count(*)::int as count from turns group by outcome order by count(*) desc`;
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome ?? 'open', count]));
}
