import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { auditSummaries } from '../../src/verify/audit/audit-summaries.ts';
import type { SummaryAudit } from '../../src/verify/audit/audit-summaries.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import type { CompactionPlan, Operation } from '../../src/context/plan/plan.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { writePieces } from '../../src/store/log/content-pieces.ts';
import type { Database } from '../../src/store/database/database.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { commitRequest, compact, plan, planWithCut, SUMMARY } from '../store/support/compaction-builders.ts';
import {
  answer,
  answerWith,
  finishToolCall,
  register,
  startTurn,
  step,
  text,
  toolCall,
  useTestStore,
} from '../store/support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

const FILLER = 'The reeds stand still. '.repeat(40);
const NEST = `The nest QX-1003 hangs at 12.5 degrees. ${FILLER}The nest ends at 8844.`;

async function auditOf({
  conversationId,
}: TurnReference): Promise<SummaryAudit & { readonly lost: readonly string[] }> {
  const audit = await auditSummaries(sql, conversationId, { limit: 50 });
  expect(audit.carried + audit.shown + audit.missing.length).toBe(audit.facts);
  return { ...audit, lost: audit.missing.map(({ text: fact }) => fact) };
}

/** Entries: user 1, answer 2, the nest 3, answer 4 and result 5. */
async function turnAboutNests(): Promise<TurnReference> {
  const turn = await startTurn(sql, 'You must keep the heron of Utrecht in /srv/birds/heron.txt.');
  await answer(sql, turn, 1, { calls: 1, said: 'I look at the nest 4711.' });
  await finishToolCall(sql, turn, 1, 0, text(NEST));
  await step(sql, turn, 2);
  return turn;
}

/** Commits a pass that drops nothing and shows the nest another way; `planned` for one that writes a summary in place. */
async function shortenNest(
  turn: TurnReference,
  how: Omit<Operation, 'entryId' | 'measurements'>,
  planned: Partial<CompactionPlan> = {
    form: 'reduction',
    coveredThroughSequence: null,
    firstKeptSequence: null,
    parts: [],
  },
): Promise<void> {
  const [nest] = await sql<{ id: string }[]>`
    select id from entries where conversation_id = ${turn.conversationId} and sequence = 3`;
  const operations = [{ entryId: nest?.id ?? '', measurements: NO_MEASUREMENTS, ...how }];
  const { compaction } = await plan(sql, turn, planWithCut(4, { operations, ...planned }));
  const summary = planned.inPlace === true ? { ...SUMMARY, text: 'Nest QX-1003.' } : null;
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId, { summary }));
}

it('lists facts of entries that left the window which it no longer says, and whether recall finds them', async () => {
  const turn = await turnAboutNests();
  await step(sql, turn, 3);
  const { compaction } = await plan(sql, turn);
  const summary = { ...SUMMARY, text: 'The heron of Utrecht; /srv/birds/heron.txt.' };
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId, { summary }));
  const audit = await auditOf(turn);
  expect(audit).toMatchObject({ compactionId: compaction.compactionId, droppedEntries: 3, shortenedEntries: 0 });
  expect(audit.missing).toContainEqual(expect.objectContaining({ text: '4711', sequence: 2, found: true }));
  expect(audit.missing).toContainEqual(expect.objectContaining({ text: '12.5', sequence: 3, found: true }));
  expect(audit.lost).not.toContain('/srv/birds/heron.txt');
  expect(audit.found).toBe(audit.askedFor);
});

it('tells of each compaction what its window said no more, also when a newer one says it again', async () => {
  const turn = await turnAboutNests();
  const commit = async (text: string, cut?: CompactionPlan) => {
    const { compaction } = await plan(sql, turn, cut);
    const { compactionId } = compaction;
    await commitCompaction(sql, commitRequest(turn, compactionId, { summary: { ...SUMMARY, text } }));
    return { compactionId, limit: 50 };
  };
  await step(sql, turn, 3);
  const first = await commit('The heron of Utrecht.');
  await step(sql, turn, 4);
  await step(sql, turn, 5);
  const second = await commit('The heron of Utrecht; nest 4711.', planWithCut(6));
  const of = async (options: { compactionId?: string; limit: number }) => {
    const { compactionId, droppedEntries, missing } = await auditSummaries(sql, turn.conversationId, options);
    return [compactionId, droppedEntries, missing.some(({ text: fact }) => fact === '4711')];
  };
  expect(await of(first)).toEqual([first.compactionId, 3, true]);
  expect(await of(second)).toEqual([second.compactionId, expect.any(Number), false]);
  expect(await of({ limit: 50 })).toEqual(await of(second));
  const other = await startTurn(sql, 'Say one');
  const foreign = auditSummaries(sql, other.conversationId, first);
  await expect(foreign).rejects.toMatchObject({ code: 'entry_not_found' });
  const none = auditSummaries(sql, turn.conversationId, { compactionId: 'none', limit: 50 });
  await expect(none).rejects.toMatchObject({ code: 'entry_not_found' });
});

it('a fact that recall does not find is told from those that it finds', async () => {
  // 200 letters and more in one piece are taken for bytes, which the index leaves out.
  const bytes = [1, 2, 3]
    .map((seed) => createHash('sha512').update(`${seed}`).digest('base64').replaceAll(/[+=]/gu, '/'))
    .join('');
  const turn = await startTurn(sql, 'You must keep the heron of Utrecht.');
  await answer(sql, turn, 1, { calls: 1 });
  await finishToolCall(sql, turn, 1, 0, text(`The nest QX-1003.\n${bytes}\nNothing more.`));
  await step(sql, turn, 2);
  await step(sql, turn, 3);
  await compact(sql, turn);
  const audit = await auditOf(turn);
  expect(audit.missing).toContainEqual(expect.objectContaining({ text: 'QX-1003', found: true }));
  const notFound = audit.missing.filter(({ found }) => found === false).map(({ text: fact }) => fact);
  expect(notFound).toEqual(audit.missing.map(({ text: fact }) => fact).filter((fact) => bytes.includes(fact)));
  expect(notFound.length).toBeGreaterThan(0);
  expect(audit).toMatchObject({ askedFor: audit.missing.length, found: audit.missing.length - notFound.length });
  const printed = await runInProcess(['summaries', turn.conversationId, '--audit'], {
    environment: { DATABASE_URL: url },
  });
  expect(printed.stdout).toMatch(/✓ +3 +identifier +QX-1003/u);
  expect(printed.stdout).toMatch(/✗ +3 +path /u);
});

it('facts behind line ends and tabs of arguments and of JSON are those that were meant, and a summary that names them carries them', async () => {
  const file = 'import os\n\ndef parse_header():\n\tretry_limit = 4\n/etc/app/config.yaml\nQX-1003\n';
  const turn = await startTurn(sql, 'Write it.');
  const call = toolCall(0, 'write_file', JSON.stringify({ file: 'a', content: file }));
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), [call]));
  await finishToolCall(sql, turn, 1, 0, text(JSON.stringify({ stdout: 'wrote\nheron_count\t8844' })));
  await step(sql, turn, 2);
  await step(sql, turn, 3);
  const { compaction } = await plan(sql, turn);
  const said = 'Wrote parse_header with retry_limit to /etc/app/config.yaml; heron_count is 8844.';
  await commitCompaction(sql, commitRequest(turn, compaction.compactionId, { summary: { ...SUMMARY, text: said } }));
  const audit = await auditOf(turn);
  expect(audit.missing.filter(({ text: fact }) => !['write_file', 'read_file'].includes(fact))).toEqual([
    expect.objectContaining({ kind: 'identifier', text: 'QX-1003', sequence: 2, found: true }),
  ]);
  expect(audit.carried).toBe(5);
});

it('what the entries that stay say too is not missing, and not carried by the summary', async () => {
  const turn = await turnAboutNests();
  const before = await (async () => {
    await compact(sql, turn);
    return auditOf(turn);
  })();
  expect(before.lost).toContain('4711');
  await answer(sql, turn, 4, { said: 'It is nest 4711 after all.' });
  const after = await auditOf(turn);
  expect(after.lost).not.toContain('4711');
  expect(after).toMatchObject({ carried: before.carried, shown: before.shown + 1 });
});

it('a pass that only cleared hides what the result said', async () => {
  const turn = await turnAboutNests();
  expect(await auditOf(turn)).toMatchObject({ droppedEntries: 0, shortenedEntries: 0, facts: 0 });
  await shortenNest(turn, { kind: 'clear' });
  const audit = await auditOf(turn);
  expect(audit).toMatchObject({ compactionId: null, droppedEntries: 0, shortenedEntries: 1, carried: 0, shown: 0 });
  expect(audit.lost).toEqual(expect.arrayContaining(['QX-1003', '12.5', '8844']));
  expect(audit.found).toBe(audit.askedFor);
  const printed = await runInProcess(['summaries', turn.conversationId, '--audit'], {
    environment: { DATABASE_URL: url },
  });
  expect(printed.stdout).toMatch(/^0 entries left the window, 1 entry shown shorter;/u);
});

it('a summary in place carries what the results that it stands for said, and the rest of them is hidden', async () => {
  const turn = await turnAboutNests();
  await shortenNest(turn, { kind: 'clear' }, { inPlace: true, coveredThroughSequence: 5, firstKeptSequence: 1 });
  const audit = await auditOf(turn);
  expect(audit).toMatchObject({ droppedEntries: 0, shortenedEntries: 1, carried: 1 });
  expect(audit.compactionId).not.toBeNull();
  expect(audit.lost).toEqual(expect.arrayContaining(['12.5', '8844']));
  expect(audit.lost).not.toContain('QX-1003');
});

it('of a clipped result only what lies between head and tail is hidden', async () => {
  const turn = await turnAboutNests();
  await shortenNest(turn, { kind: 'clip', headCharacters: 60, tailCharacters: 10 });
  const audit = await auditOf(turn);
  expect(audit.lost).toEqual([]);
  expect(audit).toMatchObject({ shortenedEntries: 1, shown: audit.facts });
  expect(audit.facts).toBeGreaterThan(2);
  await shortenNest(turn, { kind: 'clip', headCharacters: 60, tailCharacters: 0 });
  expect((await auditOf(turn)).lost).toEqual(['8844']);
});

it('of a result that was too long to be shown, and of one that left the window, the original counts', async () => {
  const turn = await turnAboutNests();
  const original = await writePieces(sql, turn.conversationId, [
    Buffer.from(`Marker 90210.\n${FILLER}\nMarker 31337.`),
  ]);
  await answer(sql, turn, 3, { calls: 1 });
  await finishToolCall(sql, turn, 3, 0, { ...text('Marker 90210. [clipped]'), original });
  expect(await auditOf(turn)).toMatchObject({ droppedEntries: 0, shortenedEntries: 1, shown: 1, lost: ['31337'] });
  await step(sql, turn, 4);
  await compact(sql, turn, planWithCut(8));
  expect((await auditOf(turn)).lost).toEqual(expect.arrayContaining(['90210', '31337']));
});

it('recall is asked for as many facts as it may be: what one kind leaves over goes to the others', async () => {
  const turn = await startTurn(sql, 'You must keep the heron of Utrecht in /srv/birds/heron.txt.');
  await answer(sql, turn, 1, { calls: 1 });
  const numbers = Array.from({ length: 60 }, (_, index) => 1_000 + index * 7);
  await finishToolCall(sql, turn, 1, 0, text(numbers.map((number) => `reading ${number}`).join('\n')));
  await step(sql, turn, 2);
  await step(sql, turn, 3);
  await compact(sql, turn);
  const asked = async (limit: number) => {
    const { missing, askedFor } = await auditSummaries(sql, turn.conversationId, { limit });
    return {
      missing: missing.length,
      askedFor,
      kinds: new Set(missing.flatMap((fact) => (fact.found === null ? [] : [fact.kind]))),
    };
  };
  const all = await asked(200);
  expect(all.askedFor).toBe(all.missing);
  expect(all.missing).toBeGreaterThan(60);
  const some = await asked(40);
  expect(some).toMatchObject({ askedFor: 40, kinds: all.kinds });
  expect((await asked(1)).askedFor).toBe(1);
});
