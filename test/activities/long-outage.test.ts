import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import { headOf, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

test('a server that is out and names a time is asked again at the latest after five minutes, however often it is: no retry is used up', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(503, { 'retry-after': '604800' }).end());
  onTestFinished(() => server.close());
  const turn = await startTurn(sql, 'Say hello');
  const call = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  for (let attempt = 1; attempt <= 9; attempt += 1)
    await expect(callModel(dependencies, call, execution({ attempt }))).rejects.toMatchObject({
      message: 'waits for sim: outage',
      nextRetryDelay: 300_000,
    });
  expect(server.requests).toHaveLength(9);
});
