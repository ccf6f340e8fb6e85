import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { recordEvent } from '../../src/store/log/events.ts';
import type { EventDataByKind, EventKind } from '../../src/store/log/timeline.ts';
import { EXAMPLE_EVENTS } from '../support/example-events.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { startTurn, useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

type Wait = EventDataByKind['turn_waiting'];

const SLEEPS: Wait = { ...EXAMPLE_EVENTS.turn_waiting, delayMilliseconds: 60_000 };
const HOLDS: Wait = { ...EXAMPLE_EVENTS.turn_waiting, delayMilliseconds: 8_000, holdsWorker: true };

describe('a turn waits for its provider', () => {
  const states = async (
    wait: Wait,
    ...behind: readonly (EventKind | readonly ['turn_waiting', Wait])[]
  ): Promise<readonly boolean[]> => {
    const turn = await startTurn(sql);
    const seen: boolean[] = [];
    for (const event of [['turn_waiting', wait] as const, ...behind]) {
      const [kind, data] = typeof event === 'string' ? [event, EXAMPLE_EVENTS[event]] : event;
      await recordEvent(sql, { turn, kind, data });
      seen.push((await getTurn(sql, turn.turnId)).waitsForRateLimit);
    }
    return seen;
  };

  it('until its call is made', async () => {
    expect(await states(SLEEPS, 'model_call_started')).toEqual([true, false]);
    expect(await states(HOLDS, 'model_call_started')).toEqual([true, false]);
  });

  it('while one summary waits in the workflow, whatever others beside it come to', async () => {
    const others = [
      'compaction_part_written',
      ['turn_waiting', HOLDS],
      'turn_wait_over',
      'compaction_part_failed',
    ] as const;
    expect(await states(SLEEPS, ...others)).toEqual([true, true, true, true, true]);
  });

  it('in its worker until that says that the wait is over', async () => {
    expect(await states(HOLDS, 'turn_wait_over')).toEqual([true, false]);
  });

  it('for the time it was told, and in a queue until it had the time to look again', async () => {
    /** @param seconds since the time was over */
    const waits = async (reason: Wait['reason'], seconds: number): Promise<boolean> => {
      const turn = await startTurn(sql);
      await recordEvent(sql, {
        turn,
        kind: 'turn_waiting',
        data: { ...SLEEPS, reason, delayMilliseconds: -1_000 * seconds },
      });
      return (await getTurn(sql, turn.turnId)).waitsForRateLimit;
    };
    expect(await waits('rate_limit', -1)).toBe(true);
    expect(await waits('rate_limit', 1)).toBe(false);
    expect(await waits('call_limit', 1)).toBe(true);
    expect(await waits('call_limit', 4)).toBe(false);
  });
});
