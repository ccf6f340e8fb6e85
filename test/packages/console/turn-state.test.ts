import { expect, test } from 'vitest';
import { stateOf } from '../../../packages/console/src/text/turn-state.ts';

type Given = Parameters<typeof stateOf>[0];

const workerNeed = { needs: 'tool', name: 'convert' } as const;

test('a missing worker is the state of a conversation only while no turn is open', () => {
  const labelOf = (turn: { state: string; outcome?: string } | null): string =>
    stateOf({ turn: turn as Given['turn'], waitingMessages: 1, workerNeed }).label;
  expect(labelOf({ state: 'waiting_for_approval' })).toBe('waiting for approval');
  expect(labelOf({ state: 'running' })).toBe('running');
  expect(labelOf({ state: 'ended', outcome: 'completed' })).toBe('waiting for a worker');
  expect(labelOf(null)).toBe('waiting for a worker');
});
