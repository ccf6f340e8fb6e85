import { afterEach, beforeEach, expect, test } from 'vitest';
import { dieInOrder } from '../support/ordered-deaths.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

// Each test brings its own workers.
beforeEach(async () => {
  harness = await startTurnHarness({
    configurationFile: `agents:
  patient: { instructions: Work., tools: [run_command], allowCommands: true, limits: { repeatedCalls: 5 } }
  careful: { instructions: Work., tools: [run_command], allowCommands: true, limits: { repeatedCalls: 2 } }
`,
  });
});

afterEach(() => harness.stop());

const END = { outcome: 'budget_exhausted', reason: 'calls_repeated' };

async function outcomesOf(conversationId: string): Promise<(string | null)[]> {
  const calls = await harness.database<{ outcome: string | null }[]>`
    select outcome from tool_calls where conversation_id = ${conversationId} order by call_number`;
  return calls.map(({ outcome }) => outcome);
}

test('a call that leaves its outcome unknown each time ends the turn after as many times, though every worker dies', async () => {
  const sent = await harness.client.start('Call run_command with {"command": "true"} 6 times, one by one', {
    agent: 'careful',
  });
  await dieInOrder(harness, ['runTool:claimed', 'runTool:claimed', 'runTool:outcome-unknown']);
  expect(await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject(END);
  expect(await outcomesOf(sent.conversationId)).toEqual(['outcome_unknown', 'outcome_unknown']);
});

const SLOWER_EACH_TIME = 'n=$(cat n 2> /dev/null || echo 0); sleep 0.$n; echo $((n + 1)) > n; echo same';

test('a command that writes the same each time, but takes longer, ends the turn after as many times, though workers die behind its results', async () => {
  const task = `Call run_command with ${JSON.stringify({ command: SLOWER_EACH_TIME })} 8 times, one by one`;
  const sent = await harness.client.start(task, { agent: 'patient' });
  await dieInOrder(
    harness,
    Array.from({ length: 4 }, () => 'runTool:stored' as const),
  );
  expect(await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject(END);
  expect(await outcomesOf(sent.conversationId)).toHaveLength(5);
});
