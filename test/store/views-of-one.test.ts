import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writePieces } from '../../src/store/log/content-pieces.ts';
import { commitCompaction, replanCompaction } from '../../src/store/compactions/commit-compaction.ts';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { withoutTableScans } from '../../src/store/memory/choose-memories.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { commitRequest, plan, planWithCut } from './support/compaction-builders.ts';
import { answer, finishToolCall, openTestStore, startTurn, step, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;
let owner: Database;
let turns: TurnReference[];

/** More than the rows that one of them has in any table, counted once for each part of a view that reads them. */
const CONVERSATIONS = 24;

/** Three steps, the last result in pieces; a summary in its second form. */
async function converse(): Promise<TurnReference> {
  const turn = await startTurn(sql, 'Read three letters.');
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  await answer(sql, turn, 3, { calls: 1 });
  const original = await writePieces(sql, turn.conversationId, [Buffer.alloc(3_000, 'x')]);
  await finishToolCall(sql, turn, 3, 0, { ...text('clipped'), original });
  const { compaction } = await plan(sql, turn);
  const weaker = await replanCompaction(sql, {
    turn,
    compactionId: compaction.compactionId,
    failure: 'model_failed',
    nextCompactionId: newId(),
    plan: planWithCut(4, { form: 'shorter_summary' }),
  });
  await commitCompaction(sql, commitRequest(turn, weaker.compactionId));
  return turn;
}

beforeAll(async () => {
  store = await openTestStore();
  ({ sql, owner } = store);
  turns = await Promise.all(Array.from({ length: CONVERSATIONS }, converse));
  await owner`analyze`;
});
afterAll(() => store.close());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Rows of each table that the query reads, those that it throws away too. */
async function rowsRead(query: string): Promise<Record<string, number>> {
  // Small tables are rather read whole, whatever the view allows.
  const [row] = await withoutTableScans(sql, (open) =>
    open.unsafe<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(`explain (analyze, timing off, format json) ${query}`),
  );
  const read: Record<string, number> = {};
  for (const node of nodesOf(row['QUERY PLAN'][0].Plan)) {
    const { 'Relation Name': table, 'Actual Loops': loops } = node;
    if (table === undefined) continue;
    const rows =
      node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    read[table] = (read[table] ?? 0) + rows * loops;
  }
  return read;
}

describe.each([
  ['conversation_text', ['conversation_id', 'entry_id']],
  ['summaries', ['conversation_id', 'compaction_id']],
  ['task_steps', ['conversation_id', 'turn_id']],
  ['task_files', ['conversation_id', 'turn_id']],
  ['task_details', ['conversation_id', 'turn_id']],
])('the view %s', (view, keys) => {
  it.each(keys)('asked for one %s, reads no row of another conversation', async (key) => {
    const conversationId = turns[12]?.conversationId ?? '';
    const [one] = await sql.unsafe<{ value: string }[]>(
      `select ${key} as value from ${view} where conversation_id = '${conversationId}' limit 1`,
    );
    expect(one).toBeDefined();
    const read = await rowsRead(`select * from ${view} where ${key} = '${one?.value}'`);
    for (const [table, rows] of Object.entries(read)) expect(rows, table).toBeLessThan(CONVERSATIONS);
  });
});
