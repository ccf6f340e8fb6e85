import { describe, expect, it } from 'vitest';
import { reclaimToolCall } from '../../src/store/attempts/tool-calls.ts';
import { claimer, useTestStore } from '../store/support/store-builders.ts';
import { startRememberer } from './support/rememberer.ts';

const { sql } = useTestStore();

describe('memories of a tool that was replaced', () => {
  /** Each change that a memory tool can make, of what `remember` said before. */
  async function replaced() {
    const { turn, toolOf, state, inForce, remember } = await startRememberer(sql);
    const kept = await remember('The staging port is 6432.');
    const { call, memories } = await toolOf();
    const changes = {
      new: () => memories.remember(state('Deploys run on Fridays.')),
      again: () => memories.remember(state('The staging port is 6432.', { confidence: 0.1 })),
      forgotten: () => memories.forget(kept.id),
    };
    const expectRefused = async (code: string): Promise<void> => {
      for (const [name, change] of Object.entries(changes))
        expect([name, await change().catch((error: unknown) => error)]).toEqual([
          name,
          expect.objectContaining({ code }),
        ]);
      expect(await inForce()).toMatchObject([{ text: 'The staging port is 6432.', confidence: 1 }]);
    };
    return { turn, call, expectRefused };
  }

  it('stay as they are when a newer attempt runs the call', async () => {
    const { call, expectRefused } = await replaced();
    await reclaimToolCall(sql, { ...call, ...claimer('worker-2', 2), previousAttempt: 1 });
    await expectRefused('superseded_attempt');
  });

  it('stay as they are when a newer turn has the conversation', async () => {
    const { turn, expectRefused } = await replaced();
    await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
    await expectRefused('stale_epoch');
  });
});

it('an attempt that died behind its write is followed by one that says the same', async () => {
  const { toolOf, state } = await startRememberer(sql);
  const { memories } = await toolOf();
  const first = await memories.remember(state('Deploys run on Fridays.'));
  expect(first.isNew).toBe(true);
  expect(await memories.remember(state('Deploys run on Fridays.'))).toEqual(first);
});
