import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkReport } from '../src/demo/check-report.ts';
import { REPORT_PATH } from '../src/demo/task-text.ts';
import type { Database } from '../src/store/database.ts';
import type { SoakConversation } from './conversations.ts';
import type { Violation } from './violation.ts';

export interface CheckedReports {
  readonly violations: readonly Violation[];
  readonly right: number;
  readonly checked: number;
}

/**
 * The reports of turns that say that they are complete. After a turn that was stopped or failed the simulator first goes
 * on with what that one left, as a user who says so would want: such a conversation owes no report.
 */
export async function checkReports(
  database: Database,
  conversations: readonly SoakConversation[],
): Promise<CheckedReports> {
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
