import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkReport } from '../demo/check-report.ts';
import { REPORT_PATH } from '../demo/task-text.ts';
import type { Database } from '../../src/store/database/database.ts';
import type { SoakConversation } from './conversations.ts';
import type { Violation } from './violation.ts';

export interface CheckedReports {
  readonly violations: readonly Violation[];
  readonly right: number;
  readonly checked: number;
  /** Reports that were read. */
  readonly reports: number;
  /** Conversations that nobody stopped, and whose reading turn has ended. */
  readonly owed: number;
  /** Reports of those. */
  readonly given: number;
}

/** Ends that faults of the model server lead to in a small window; any other one of a turn that nobody stopped is a violation. */
const EXPLAINED = new Set([
  'context_exhausted second_overflow',
  'budget_exhausted compactions_without_progress',
  'model_failed null',
]);

/**
 * The reports of turns that say that they are complete. After a turn that was stopped or failed the simulator first goes
 * on with what that one left, as a user who says so would want: such a conversation owes no report.
 */
export async function checkReports(
  database: Database,
  conversations: readonly SoakConversation[],
): Promise<CheckedReports> {
  const ends = await readEnds(database, conversations);
  const violations: Violation[] = [];
  const counts = { right: 0, checked: 0, reports: 0, owed: 0, given: 0 };
  for (const { conversationId, job, workspace, readingMessageId, mayStop } of conversations) {
    const end = ends.get(readingMessageId);
    if (end === undefined || end.isBehindFailure) continue;
    if (!mayStop) counts.owed += 1;
    if (end.outcome !== 'completed') {
      if (mayStop || EXPLAINED.has(`${end.outcome} ${end.reason}`)) continue;
      violations.push({ name: 'report_missing', found: `${conversationId} ended as ${end.outcome} ${end.reason}` });
      continue;
    }
    counts.reports += 1;
    if (!mayStop) counts.given += 1;
    const check = checkReport(job, await readFile(join(workspace, REPORT_PATH), 'utf8').catch(() => null));
    counts.right += check.right;
    counts.checked += check.right + check.wrong.length;
    for (const { label, column, expected, found } of check.wrong)
      violations.push({ name: 'fact_wrong', found: `${conversationId} ${label} ${column}: ${found}, not ${expected}` });
    for (const label of check.doubled) violations.push({ name: 'row_twice', found: `${conversationId} ${label}` });
  }
  return { violations, ...counts };
}

interface ReadingEnd {
  readonly outcome: string;
  readonly reason: string | null;
  /** A turn before it did not complete. */
  readonly isBehindFailure: boolean;
}

/** How the turns that were asked for a report ended, by the message that asked. */
async function readEnds(
  database: Database,
  conversations: readonly SoakConversation[],
): Promise<ReadonlyMap<string, ReadingEnd>> {
  const ids = conversations.map(({ readingMessageId }) => readingMessageId);
  const rows = await database<(ReadingEnd & { readonly id: string })[]>`
    select m.id, t.outcome, t.reason, exists (
      select from turns e
      where e.conversation_id = t.conversation_id and e.begun_at < t.begun_at and e.outcome <> 'completed'
    ) as "isBehindFailure"
    from messages m join turns t on t.id = m.turn_id where m.id = any(${ids}) and t.outcome is not null`;
  return new Map(rows.map(({ id, ...end }) => [id, end]));
}
