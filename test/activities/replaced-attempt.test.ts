import { expect, onTestFinished, test } from 'vitest';
import { useTestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { branchSummary, modelCall, summary } from './support/asking-work.ts';

const { sql } = useTestStore();

test.for([
  ['model call', modelCall],
  ['summary', summary],
  ['branch summary', branchSummary],
] as const)(
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
