import { describe, expect, it } from 'vitest';
import { measureFidelityOfPresets } from '../../dev/bench/memory/fidelity-of-presets.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { preset } from '../packages/lab/lab-harness.ts';

describe('what is known after compactions', () => {
  it('is all within reach of recall, and in the view without it only in part', async () => {
    const [database, simulator] = await Promise.all([createTestDatabase(), startSimulator()]);
    const sql = connectDatabase({ url: database.url });
    try {
      const figures = await measureFidelityOfPresets(sql, {
        seed: 1,
        steps: 40,
        policies: [preset('default'), preset('opencode')],
        passes: [1],
        simulatorUrl: simulator.url,
      });
      expect(figures.map((each) => each.preset)).toEqual(['default', 'opencode']);
      for (const { preset: name, passes, asked, rules, originals, byKind, ...figure } of figures) {
        const { withoutSummaries, withoutRecall } = figure;
        expect(passes).toBe(1);
        expect(asked, name).toBeGreaterThanOrEqual(10);
        expect(figure, name).toMatchObject({ reachable: asked, inViewOrReachable: asked, stale: 0 });
        expect(originals.asked, name).toBeGreaterThan(10);
        expect(originals.reachable, name).toBe(originals.asked);
        expect(rules, name).toEqual({ asked: 5, inView: 5 });
        expect(byKind.rule.asked, name).toBeGreaterThan(0);
        expect(figure.inView, name).toBeLessThan(asked);
        expect(withoutSummaries.inView, name).toBeLessThanOrEqual(figure.inView);
        expect(withoutRecall, name).toMatchObject({ reachable: 0, inViewOrReachable: figure.inView });
      }
      // What the user said stays word for word where the preset keeps his messages.
      const [own] = figures;
      expect(own?.userMessages.asked).toBeGreaterThan(0);
      expect(own?.userMessages.inView).toBe(own?.userMessages.asked);
      expect(own?.byKind.rule.inView).toBe(own?.byKind.rule.asked);
    } finally {
      await Promise.all([sql.end(), simulator.close()]);
      await database.drop();
    }
  });
});
