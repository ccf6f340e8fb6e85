import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect, inject, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { startScriptedTurn } from './support/scripted-turn.ts';
import { CALLS_A_TOOL, endedAs } from './support/worker-of-activities.ts';

test('when one of several tool calls fails for good, the others are cancelled and awaited before the turn ends', async () => {
  const order: string[] = [];
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    callModel: () => Promise.resolve({ ...CALLS_A_TOOL, calls: [0, 0] }),
    runTool: async ({ callIndex }) => {
      if (callIndex === 0) {
        await waitUntil('the other one runs', () => order.includes('begun'));
        throw ApplicationFailure.nonRetryable('broken', 'Broken');
      }
      const context = Context.current();
      // A cancellation comes as the answer to a heartbeat.
      const beating = setInterval(() => context.heartbeat(), 100);
      order.push('begun');
      try {
        return await context.cancelled;
      } finally {
        clearInterval(beating);
        order.push('cancelled');
      }
    },
    endTurn: (input) => {
      order.push(`ended as ${input.outcome}`);
      return Promise.resolve(endedAs(input));
    },
  }));
  await waitUntil('the turn ends', () => order.some((each) => each.startsWith('ended')), 20_000);
  expect(order).toEqual(['begun', 'cancelled', 'ended as interrupted']);
  expect(await turn.runs()).toBe(1);
});
