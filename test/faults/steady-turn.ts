import { expect } from 'vitest';
import { textOf } from '../../src/context/content.ts';
import { verify } from '../../src/verify/verify.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Milliseconds of each model answer: faults meet every kind of work, and steps are few. */
const ANSWER_MILLISECONDS = 250;

const PATIENCE_MILLISECONDS = 120_000;

/** A turn of equal steps that goes on while a test breaks things. */
export interface SteadyTurn {
  readonly conversationId: string;
  /** Waits until the turn has made progress from here on. Fails when it has none left to make: a fault would meet nothing. */
  goesOn(): Promise<void>;
  /** Waits for the end: completed, each call once, nothing lost. */
  completes(): Promise<void>;
}

export async function startSteadyTurn(harness: TurnHarness, steps: number): Promise<SteadyTurn> {
  await harness.clearFaults();
  await harness.fault({ kind: 'delay', milliseconds: ANSWER_MILLISECONDS, times: null });
  const sent = await harness.client.startTask({
    // Another file in each step, or the guard against loops would end the turn. None of them exists: a result is a result.
    task: `Call read_file with {"path": "missing-$index.txt"} ${steps} times, one by one\nSay all done`,
  });
  const { conversationId } = sent;
  const answers = async (): Promise<number> => {
    const [row] = await harness.database<{ count: number }[]>`
      select count(*)::int as count from entries where conversation_id = ${conversationId} and kind = 'assistant'`;
    return row?.count ?? 0;
  };
  const reaches = (count: number) =>
    waitUntil(`the turn has ${count} answers`, async () => (await answers()) >= count, PATIENCE_MILLISECONDS);
  await reaches(1);
  return {
    conversationId,
    async goesOn() {
      const count = await answers();
      expect(count, 'answers before the end').toBeLessThanOrEqual(steps - 1);
      await reaches(count + 2);
    },
    async completes() {
      await harness.clearFaults();
      const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: PATIENCE_MILLISECONDS });
      expect(turn).toMatchObject({ outcome: 'completed', steps: steps + 1 });
      const entries = await harness.client.listEntries({ conversationId, limit: 1_000 });
      expect(entries.filter(({ kind }) => kind === 'tool_result')).toHaveLength(steps);
      expect(textOf(entries.at(-1)?.content ?? [])).toBe('all done');
      await nothingIsBroken(harness);
    },
  };
}

/** Everything that `holdfast verify` checks in Postgres holds. */
export async function nothingIsBroken({ database }: TurnHarness): Promise<void> {
  const { invariants } = await verify(database);
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
}
