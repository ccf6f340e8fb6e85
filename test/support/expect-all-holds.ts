import { expect } from 'vitest';
import { verifyTemporal } from '../../src/verify/temporal-invariants.ts';
import { verify } from '../../src/verify/verify.ts';
import type { TurnHarness } from './turn-harness.ts';

/** Every invariant that `holdfast verify` checks, over everything that the harness ran. */
export async function expectAllHolds(harness: TurnHarness): Promise<void> {
  const { invariants } = await verify(harness.database);
  const asked = await verifyTemporal(harness.database, harness.temporal, { conversationId: null, limit: 20 });
  expect(
    [...invariants, ...asked.invariants].flatMap(({ name, breaches }) => breaches.map((each) => ({ name, ...each }))),
  ).toEqual([]);
}
