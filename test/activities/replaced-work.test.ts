import { expect, onTestFinished, test } from 'vitest';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { useTestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { branchSummary, modelCall, summary } from './support/asking-work.ts';

const { sql } = useTestStore();

const WORK = [
  ['model call', modelCall],
  ['summary', summary],
  ['branch summary', branchSummary],
] as const;

test.for(WORK)(
  'a worker that wakes up after Temporal gave its %s to another one does not ask the model for it',
  async ([, begin]) => {
    const server = await startHttpServer((_, response) => response.writeHead(500).end('{}'));
    onTestFinished(() => server.close());
    const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
    const { attempt: work } = await begin(sql);
    await expect(work(dependencies, execution({ attempt: 2 }))).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
    await expect(work(dependencies, execution({ attempt: 1 }))).rejects.toMatchObject({ code: 'superseded_attempt' });
    expect(server.requests).toHaveLength(1);
    // The next attempt, and those of another activity or run, which have no order with it, ask.
    for (const other of [{ attempt: 3 }, { activityId: '2' }, { runId: 'after a reset' }])
      await expect(work(dependencies, execution(other))).rejects.toThrow();
    expect(server.requests).toHaveLength(4);
  },
);

/** Answers of a turn, and summaries of its conversation. */
async function stored({ conversationId, turnId }: TurnReference): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select count(*) from entries where turn_id = ${turnId} and kind = 'assistant')::int
      + (select count(*) from compaction_parts where conversation_id = ${conversationId} and state = 'written')::int
      + (select count(*) from branch_summaries where conversation_id = ${conversationId})::int as count`;
  return row?.count ?? 0;
}

test.each(
  WORK.flatMap(([name, begin]) => (['turn', 'try'] as const).map((replaced) => [name, replaced, begin] as const)),
)('the request for a %s whose %s was replaced is aborted, and nothing of it is stored', async (_, replaced, begin) => {
  // Answers nobody: only the worker can end a request.
  const server = await startHttpServer(() => undefined);
  onTestFinished(() => server.close());
  const { turn, attempt } = await begin(sql);
  const before = await stored(turn);
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  const failed = expect(attempt(dependencies, execution())).rejects.toMatchObject({
    code: replaced === 'turn' ? 'stale_epoch' : 'superseded_attempt',
  });
  await waitUntil('the model is asked', () => server.requests.length === 1);
  const successor = new AbortController();
  let taking: Promise<unknown> = Promise.resolve();
  if (replaced === 'try') {
    taking = attempt(dependencies, execution({ attempt: 2, signal: successor.signal })).catch(() => undefined);
  } else await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
  await server.disconnected(0);
  await failed;
  successor.abort();
  await taking;
  expect(await stored(turn)).toBe(before);
});
