import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Database, Fragment } from '../../src/store/database/database.ts';
import type { CheckedInvariant } from '../../src/verify/invariant.ts';
import { parseJournal } from '../../src/verify/journal.ts';
import { verifyJournal } from '../../src/verify/journal-invariants.ts';
import { verifyTemporal } from '../../src/verify/temporal-invariants.ts';
import { verify } from '../../src/verify/verify.ts';
import type { SoakConversation } from './conversations.ts';
import { checkReports } from './reports.ts';
import { findSuspects, unexplained } from './suspects.ts';
import type { Interval, Suspect } from './suspects.ts';
import type { Violation } from './violation.ts';
import { JOURNAL } from './workers.ts';

/** Tools whose effects are lines of the journal (`dev/soak/worker-program.mjs`). */
const JOURNAL_TOOLS = ['charge', 'wire', 'set_state'];

/** Breaches of one invariant that are listed. */
const LISTED = 20;

/** How often each name occurred. */
export type Counts = Readonly<Record<string, number>>;

export interface SoakFindings {
  readonly violations: readonly Violation[];
  /** Turns by their outcome, compactions by how they ended, and what users sent by kind: what did not happen was not checked. */
  readonly outcomes: Counts;
  readonly compactions: Counts;
  readonly messages: Counts;
  readonly suspects: readonly Suspect[];
  readonly effects: number;
  readonly factsRight: number;
  readonly factsChecked: number;
  /** Reports that were read, and conversations that nobody stopped. */
  readonly reports: number;
  readonly reportsOwed: number;
  /** Reports that those gave. */
  readonly reportsGiven: number;
  /** Histories that were read from Temporal. */
  readonly histories: number;
}

export interface SoakEvidence {
  readonly database: Database;
  readonly temporal: Client;
  readonly directory: string;
  readonly conversations: readonly SoakConversation[];
  /** When each strike lasted. */
  readonly strikes: readonly Interval[];
}

/** Reads Postgres, Temporal, the journal and the reports. */
export async function checkSoak(evidence: SoakEvidence): Promise<SoakFindings> {
  const { database, temporal, directory } = evidence;
  const scope = { conversationId: null, limit: LISTED };
  const verification = await verify(database, scope);
  const asked = await verifyTemporal(database, temporal, scope, { turns: null });
  const [journal, suspects, reports] = await Promise.all([
    checkJournal(database, directory),
    findSuspects(database, evidence.strikes),
    checkReports(database, evidence.conversations),
  ]);
  return {
    violations: [
      ...broken([...verification.invariants, ...asked.invariants]),
      ...asked.histories.gone.map(({ turnId, runId }) => ({
        name: 'history_gone',
        found: `turn ${turnId} run ${runId}`,
      })),
      ...journal.violations,
      ...unexplained(suspects),
      ...reports.violations,
      ...(await findInterrupted(database)),
    ],
    outcomes: await countBy(database, database`select coalesce(outcome, 'open') as name from turns`),
    compactions: await countBy(
      database,
      database`
        select status || case when status <> 'committed' then '' when summary is null then ' without a summary' else ' with a summary' end
          || case reason when 'manual' then ', forced' when 'overflow' then ', after an overflow' else '' end as name
        from compactions`,
    ),
    messages: await countBy(database, database`select kind as name from messages`),
    suspects,
    effects: journal.effects,
    factsRight: reports.right,
    factsChecked: reports.checked,
    reports: reports.reports,
    reportsOwed: reports.owed,
    reportsGiven: reports.given,
    histories: asked.histories.histories,
  };
}

async function countBy(database: Database, names: Fragment): Promise<Counts> {
  const rows = await database<{ name: string; count: number }[]>`
    select name, count(*)::int as count from (${names}) as named group by 1 order by 2 desc, 1`;
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

function broken(invariants: readonly CheckedInvariant[]): Violation[] {
  return invariants.flatMap(({ name, breaches }) =>
    breaches.map(({ conversationId, subject, found }) => ({ name, found: `${conversationId} ${subject}: ${found}` })),
  );
}

/** Every effect belongs to a call, none of `once` happened twice, and a call that succeeded has its effect. */
export async function checkJournal(database: Database, directory: string) {
  const read = async () => parseJournal(await readFile(join(directory, JOURNAL), 'utf8').catch(() => ''));
  const { invariants, effects, foreign } = await verifyJournal(
    database,
    read,
    { conversationId: null, limit: LISTED },
    JOURNAL_TOOLS,
  );
  const violations = [...broken(invariants), ...foreign.map((key) => ({ name: 'effect_of_no_turn', found: key }))];
  return { violations, effects };
}

/** No strike takes Temporal's data away, so no turn may end for a reason of its machinery. */
export async function findInterrupted(database: Database): Promise<Violation[]> {
  const rows = await database<{ id: string; reason: string | null }[]>`
    select id, reason from turns where outcome = 'interrupted'`;
  return rows.map(({ id, reason }) => ({ name: 'turn_interrupted', found: `turn ${id}: ${reason}` }));
}
