import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import type { Database } from '../../src/store/database/database.ts';
import { headOf, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

test('a server that is out and asks for a week is looked at every five minutes, more often than a call is retried', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(503, { 'retry-after': '604800' }).end());
  onTestFinished(() => server.close());
  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  // Each look is a call of its own, as when the workflow has waited.
  for (let callNumber = 1; callNumber <= 9; callNumber += 1)
    expect(await callModel(dependencies, { turn, callNumber, headEntryId, steps: 0 }, execution())).toEqual({
      kind: 'wait',
      delayMilliseconds: 300_000,
    });
  expect(server.requests).toHaveLength(9);
});
