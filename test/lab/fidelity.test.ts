import { describe, expect, it } from 'vitest';
import { fidelityTable } from '../../bench/memory/fidelity-table.ts';
import { PLANT_KINDS, plantedSession } from '../../src/lab/fidelity/planted-session.ts';

describe('a planted session', () => {
  const { messages, plants, rules } = plantedSession(1, 420);
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : ''));
  const saying = (value: string): number[] => texts.flatMap((text, index) => (text.includes(value) ? [index] : []));

  it('is the same for the same seed, another for another', () => {
    expect(plantedSession(1, 420)).toEqual({ messages, plants, rules });
    expect(plantedSession(2, 420).plants).not.toEqual(plants);
  });

  it('holds enough of every kind, each value in one message', () => {
    for (const kind of PLANT_KINDS)
      expect(plants.filter((plant) => plant.kind === kind).length, kind).toBeGreaterThan(3);
    for (const { value } of plants) expect(saying(value), value).toHaveLength(1);
    expect(new Set(plants.map(({ question }) => question)).size).toBe(plants.length);
  });

  it('says the old value of an update before the new one, and once', () => {
    const updated = plants.filter(({ stale }) => stale !== null);
    expect(updated.length).toBeGreaterThan(10);
    for (const { value, stale } of updated) {
      const [old, ...more] = saying(stale ?? '');
      expect(more).toEqual([]);
      expect(old).toBeLessThan(saying(value)[0] ?? -1);
    }
  });
});

describe('the table of the fidelity bench', () => {
  it('has a row for each preset and number of compactions', () => {
    const counts = { asked: 40, inView: 10, reachable: 38, inViewOrReachable: 39, stale: 1 };
    const byKind = { fact: counts, decision: counts, path: counts, update: counts, contradiction: counts };
    const table = fidelityTable([
      {
        ...counts,
        byKind,
        preset: 'pi',
        passes: 5,
        rules: { asked: 5, inView: 5 },
        userMessages: { asked: 0, inView: 0 },
        originals: { asked: 60, reachable: 59 },
        withoutSummaries: { ...counts, inView: 2 },
        withoutRecall: { ...counts, stale: 4 },
      },
    ]);
    expect(table.split('\n')[2]?.replaceAll(/ +/g, ' ')).toBe(
      '| `pi` | 5 | 40 | 100 % | – | 25 % | 5 % | 95 % | 98 % | 98 % | 3 % | 10 % |',
    );
  });
});
