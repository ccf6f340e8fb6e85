import { expect, test } from 'vitest';
import { newId } from '../../../src/store/database/ids.ts';
import { commitCompaction } from '../../../src/store/compactions/commit-compaction.ts';
import type { Database } from '../../../src/store/database/database.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { end, go } from '../../store/support/branch-builders.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from '../../store/support/compaction-builders.ts';
import { continueConversation, send, startTurn, step, useTestStore } from '../../store/support/store-builders.ts';
import { runInProcess } from '../run-in-process.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

const cli = (...args: string[]) => runInProcess(args, { environment: { DATABASE_URL: url } });

async function compact(turn: TurnReference, cut: number, text: string): Promise<void> {
  const { compaction } = await plan(sql, turn, planWithCut(cut));
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId, { summary: { ...SUMMARY, text } }));
}

async function goOn(conversationId: string): Promise<TurnReference> {
  await send(sql, { conversationId });
  return continueConversation(sql, conversationId);
}

const EQUAL = Array.from({ length: 9 }, (_, index) => `equal ${index}`).join('\n');

/** Generations 1, 2 and 3 of branch 0, then 4 and 5 of branch 1, which begins before all of them. */
async function twoBranches(): Promise<string> {
  const turn = await startTurn(sql);
  const { conversationId } = turn;
  for (const call of [1, 2, 3]) await step(sql, turn, call);
  await compact(turn, 4, `Herons nest.\n${EQUAL}`);
  await compact(turn, 4, `Herons nest in Utrecht.\n${EQUAL}`);
  await compact(turn, 6, `Herons left Utrecht.\n${EQUAL}`);
  await end(sql, turn);
  await go(sql, conversationId, { entryId: null, summarizes: false });
  const elsewhere = await goOn(conversationId);
  for (const call of [1, 2]) await step(sql, elsewhere, call);
  const [first] = await sql<{ sequence: number }[]>`
    select min(sequence) as sequence from entries where conversation_id = ${conversationId} and branch = 1`;
  const from = first?.sequence ?? 0;
  await compact(elsewhere, from + 3, 'Storks fly.');
  await compact(elsewhere, from + 3, 'Storks fly south.');
  await end(sql, elsewhere);
  return conversationId;
}

test('--diff compares the summary in force with the one that it updates, whatever other branches have; two generations on request', async () => {
  const conversationId = await twoBranches();
  const here = await cli('summaries', conversationId, '--diff');
  expect(here.stdout).toMatch(/^generation 4 → 5 {2}branch 1\ncovers entries through /u);
  expect(here.stdout).toMatch(/\n- Storks fly\.\n\+ Storks fly south\.\n/u);
  await go(sql, conversationId, { branch: 0, summarizes: false });
  const back = await cli('summaries', conversationId, '--diff');
  expect(back.stdout).toMatch(/^generation 2 → 3 {2}branch 0\n/u);
  expect(back.stdout).toMatch(
    /\n- Herons nest in Utrecht\.\n\+ Herons left Utrecht\.\n {2}equal 0\n {2}equal 1\n {2}… 5 equal lines\n/u,
  );
  expect((await cli('summaries', conversationId, '--diff', '--full')).stdout).toContain('\n  equal 4\n');
  const named = await cli('summaries', conversationId, '--diff', '1:4');
  expect(named.stdout).toMatch(/^generation 1 → 4 {2}made on branches 0 and 1\n/u);
  expect(named.stdout).toMatch(/\n\+ Storks fly\.\n/u);
  const json = JSON.parse((await cli('summaries', conversationId, '--diff', '--json')).stdout) as Record<
    string,
    object
  >;
  expect(json).toMatchObject({
    older: { generation: 2 },
    newer: { generation: 3, inForce: true, updatesGeneration: 2 },
  });
});

test('the list names the branch of each generation and which is in force', async () => {
  const conversationId = await twoBranches();
  const { stdout } = await cli('summaries', conversationId);
  const branches = [...stdout.matchAll(/^ {3}(branch \d(?:, in force)?) · /gmu)].map(([, branch]) => branch);
  expect(branches).toEqual(['branch 0', 'branch 0', 'branch 0', 'branch 1', 'branch 1, in force']);
  const rows = await sql<{ branch: number }[]>`
    select branch from summaries where conversation_id = ${conversationId} order by generation`;
  expect(rows.map(({ branch }) => branch)).toEqual([0, 0, 0, 1, 1]);
});

test('--diff says why there is nothing to compare, and which generations there are', async () => {
  const turn = await startTurn(sql);
  const { conversationId } = turn;
  for (const call of [1, 2]) await step(sql, turn, call);
  expect((await cli('summaries', conversationId, '--diff')).stderr).toContain('the conversation has none');
  await compact(turn, 4, 'Herons nest.');
  const one = await cli('summaries', conversationId, '--diff');
  expect([one.code, one.stderr]).toEqual([2, expect.stringContaining('the conversation has one')]);
  expect((await cli('summaries', conversationId, '--diff', '1:2')).stderr).toMatch(/Generation 2 has no summary/u);
  expect((await cli('summaries', conversationId, '--diff', 'x')).stderr).toContain('names no two generations');
  await end(sql, turn);
  await go(sql, conversationId, { entryId: null, summarizes: false });
  const elsewhere = await goOn(conversationId);
  const nothing = await cli('summaries', conversationId, '--diff');
  expect(nothing.stderr).toContain('the conversation has one');
  for (const call of [1, 2]) await step(sql, elsewhere, call);
  const [first] = await sql<{ sequence: number }[]>`
    select min(sequence) as sequence from entries where conversation_id = ${conversationId} and branch = 1`;
  await compact(elsewhere, (first?.sequence ?? 0) + 3, 'Storks fly.');
  expect((await cli('summaries', conversationId, '--diff')).stderr).toMatch(
    /generation 2 updates no other: it is the first of its branch\nnext: .*like 1:3.*with a summary: 1, 2\./u,
  );
});

test.each([
  [['--audit', '--diff'], "'--audit' cannot be used with option '--diff"],
  [['heron', '--audit'], 'A query goes with neither'],
  [['--audit', '--lineage'], "'--lineage' cannot be used with option '--audit'"],
])('what would be ignored is refused: %s', async (args, message) => {
  const { code, stderr } = await cli('summaries', 'last', ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('an audit of a conversation that is not there is refused, not said to hide nothing', async () => {
  const unknown = newId();
  const { code, stderr } = await cli('summaries', unknown, '--audit');
  expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`no conversation.*${unknown}`, 'u'))]);
});
