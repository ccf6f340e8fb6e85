import { describe, expect, it } from 'vitest';
import { NOTHING_LEARNED } from '../../src/models/errors/learned-window.ts';
import { readCalibration, updateCalibration } from '../../src/store/providers/calibrations.ts';
import { readLearnedLimits, storeLearnedWindow } from '../../src/store/providers/model-facts.ts';
import { startTurn, useTestStore } from './support/store-builders.ts';

const { sql, owner } = useTestStore();

describe('calibrations', () => {
  it('lose no lesson to another one, and are of one server and one tenant', async () => {
    const { conversationId } = await startTurn(sql);
    const MODEL = { conversationId, model: 'sim/x', limits: { server: 'http://here' } };
    expect(await readCalibration(sql, MODEL)).toEqual({ factor: 1, samples: 0 });
    await Promise.all(
      Array.from({ length: 20 }, () =>
        updateCalibration(sql, MODEL, ({ factor, samples }) => ({ factor: factor + 0.5, samples: samples + 1 })),
      ),
    );
    expect(await readCalibration(sql, MODEL)).toEqual({ factor: 11, samples: 20 });
    const elsewhere = await readCalibration(sql, { ...MODEL, limits: { server: 'http://there' } });
    expect(elsewhere).toEqual({ factor: 1, samples: 0 });
    const other = await startTurn(sql);
    await owner`update conversations set tenant = 'another' where id = ${other.conversationId}`;
    const ofAnother = await readCalibration(sql, { ...MODEL, conversationId: other.conversationId });
    expect(ofAnother).toEqual({ factor: 1, samples: 0 });
  });
});

describe('learned limits', () => {
  it('count for the tenant whose turn was refused', async () => {
    const [turn, other] = [await startTurn(sql), await startTurn(sql)];
    await owner`update conversations set tenant = 'another' where id = ${other.conversationId}`;
    const of = { model: 'sim/x', server: 'http://here' };
    const limits = { window: 8_000, maximumOutput: 1_000 };
    await storeLearnedWindow(sql, turn, { ...NOTHING_LEARNED, ...of, tokens: 8_000, limits });
    expect(await readLearnedLimits(sql, { ...of, ...turn }, 1)).toMatchObject({ tokens: 8_000 });
    expect(await readLearnedLimits(sql, { ...of, ...other }, 1)).toEqual(NOTHING_LEARNED);
  });
});
