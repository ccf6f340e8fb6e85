import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import type { ListedEntry } from '../../src/client/types.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { newId } from '../../src/store/database/ids.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import type { CliResult } from '../cli/cli-result.ts';
import { SUMMARY, commitRequest, plan, planWithCut, turnWithSteps } from '../store/support/compaction-builders.ts';
import { openTestStore, step } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';

let store: TestStore;
let client: Holdfast;
let conversationId: string;
let summaryId: string;
/** Of a pass that only shortened. */
let reductionId: string;
let marker: ListedEntry | undefined;

const TEXT = 'The heron of Utrecht nests at /srv/birds/heron.txt.';

/** Two steps, a summary, a step, and a pass that clears a result. */
beforeAll(async () => {
  store = await openTestStore();
  const { sql } = store;
  const turn = await turnWithSteps(sql);
  ({ conversationId } = turn);
  const { compaction } = await plan(sql, turn);
  summaryId = compaction.compactionId;
  await commitCompaction(sql, commitRequest(turn, summaryId, { summary: { ...SUMMARY, text: TEXT } }));
  await step(sql, turn, 4);
  client = await connect({ databaseUrl: store.url, temporal: { address: 'unused:0', namespace: 'default' } });
  const { items: entries } = await client.log.entries({ conversationId });
  marker = entries.find(({ kind }) => kind === 'compaction');
  const cleared = entries.find(({ kind, sequence }) => kind === 'tool_result' && sequence > 4);
  const shortening = planWithCut(4, {
    form: 'reduction',
    coveredThroughSequence: null,
    firstKeptSequence: null,
    parts: [],
    operations: [{ entryId: cleared?.entryId ?? '', kind: 'clear', measurements: SUMMARY.measurements }],
  });
  reductionId = (await plan(sql, turn, shortening)).compaction.compactionId;
  await commitCompaction(sql, commitRequest(turn, reductionId, { summary: null }));
});
afterAll(async () => {
  await client.close();
  await store.close();
});

const cli = async (...args: readonly string[]): Promise<CliResult> =>
  runInProcess(args, { environment: { DATABASE_URL: store.url } });

it("the client opens a summary by its compaction's id, at the place of its marker", async () => {
  expect(await client.log.open({ entryId: summaryId })).toMatchObject({
    entryId: summaryId,
    kind: 'summary',
    conversationId,
    sequence: marker?.sequence,
    content: [{ type: 'text', text: TEXT }],
    original: null,
  });
  const around = await client.log.around({ entryId: summaryId.toUpperCase(), count: 1 });
  const place = marker?.sequence ?? 0;
  expect(around.map(({ sequence }) => sequence)).toEqual([place - 1, place, place + 1]);
  expect(around[1]).toMatchObject({ kind: 'compaction', compactionId: summaryId });
});

it('what is neither entry nor summary is refused; of a pass that only shortened it says so', async () => {
  const refused = { code: 'entry_not_found' };
  await expect(client.log.open({ entryId: newId() })).rejects.toMatchObject(refused);
  await expect(client.log.around({ entryId: newId(), count: 1 })).rejects.toMatchObject(refused);
  await expect(client.log.open({ entryId: reductionId })).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(/has no summary.*holdfast summaries .* --full/u) as string,
  });
});

it('holdfast entry prints a summary that recall found, and with --context where it was made, with an arrow at its marker', async () => {
  const { passages } = JSON.parse(
    (await cli('recall', conversationId, 'heron', '--kind', 'summary', '--json')).stdout,
  ) as {
    passages: readonly { entryId: string }[];
  };
  expect(passages.map(({ entryId }) => entryId)).toEqual([summaryId]);
  expect(await cli('entry', summaryId)).toEqual({ code: 0, stdout: TEXT, stderr: '' });
  expect(JSON.parse((await cli('entry', summaryId, '--json')).stdout)).toMatchObject({
    entry: { entryId: summaryId, kind: 'summary', original: null },
  });
  const { code, stdout } = await cli('entry', summaryId, '--context', '2');
  expect(code).toBe(0);
  expect(stdout.match(/^→ .*$/gmu)).toEqual([`→ ${marker?.sequence} compaction  ${marker?.entryId}`]);
});

it('lists summaries however many there are', async () => {
  const { sql } = store;
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      insert into compactions
      select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'number', 100 + n))).*
      from compactions c, generate_series(1, 1050) n where c.id = ${summaryId}`;
  });
  const generations = (await client.log.summaries({ conversationId })).map(({ generation }) => generation);
  expect(generations).toEqual([1, 2, ...Array.from({ length: 1_050 }, (_, index) => 101 + index)]);
});
