import { expect, onTestFinished, test } from 'vitest';
import { useTestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { branchSummary, summary } from './support/asking-work.ts';

const { sql } = useTestStore();

/** Summaries of a conversation, of compactions and of branches. */
async function stored(conversationId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select count(*) from compaction_parts where conversation_id = ${conversationId} and state = 'written')::int
      + (select count(*) from branch_summaries where conversation_id = ${conversationId})::int as count`;
  return row?.count ?? 0;
}

test.each([
  ['summary', 'turn', summary],
  ['summary', 'try', summary],
  ['branch summary', 'turn', branchSummary],
  ['branch summary', 'try', branchSummary],
] as const)(
  'the request for a %s whose %s was replaced is aborted, and nothing of it is stored',
  async (_, replaced, begin) => {
    // Answers nobody: only the worker can end a request.
    const server = await startHttpServer(() => undefined);
    onTestFinished(() => server.close());
    const { turn, attempt } = await begin(sql);
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
    expect(await stored(turn.conversationId)).toBe(0);
  },
);
