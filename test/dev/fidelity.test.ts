import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fidelityLines, unreachedLines } from '../../dev/bench/benchmarks/memory.ts';
import { allTargetsMet, checkedExitCode } from '../../dev/bench/figures.ts';
import { measureFidelityOfPresets } from '../../dev/bench/memory/fidelity-of-presets.ts';
import { formatTable } from '../../dev/bench/report.ts';
import { fidelityTable } from '../../dev/bench/memory/fidelity-table.ts';
import { sumFidelity } from '../../dev/bench/memory/sum-fidelity.ts';
import { answerTo } from '../../dev/bench/fidelity/measure-fidelity.ts';
import type { FidelityFigures } from '../../dev/bench/fidelity/measure-fidelity.ts';
import { PLANT_KINDS, plantedSession } from '../../dev/bench/fidelity/planted-session.ts';
import { sampleOriginals } from '../../dev/bench/fidelity/sample-originals.ts';
import { loadSessions } from '../../packages/lab/src/session/lab-session.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { preset, writeSession } from '../packages/lab/lab-harness.ts';

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

describe('words that are asked for', () => {
  it('are those that are read, not the escapes of arguments', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-sampled-'));
    try {
      const written = 'def heron():\n\treturn the nest that hangs in the reeds\n';
      const call = {
        id: 'a',
        type: 'function',
        function: { name: 'write_file', arguments: JSON.stringify({ content: written }) },
      };
      const file = await writeSession(directory, 'session.jsonl', [
        { role: 'user', content: 'Write it.' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'written' },
      ]);
      const loaded = await loadSessions(file);
      const sampled = loaded.sessions.flatMap((session) =>
        sampleOriginals(session, { through: 9, count: Infinity, seed: 1 }),
      );
      loaded.close();
      expect(sampled.map(({ asked }) => asked).toSorted()).toEqual([
        'Write it.',
        'return the nest that hangs in the reeds',
        'written',
      ]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('what is known after compactions', () => {
  it('is all within reach of recall, and in the view without it only in part', async () => {
    const [database, simulator] = await Promise.all([createTestDatabase(), startSimulator()]);
    const sql = connectDatabase({ url: database.url });
    try {
      const figures = await measureFidelityOfPresets(sql, {
        seed: 1,
        steps: 60,
        policies: [preset('default'), preset('opencode')],
        passes: [1],
        simulatorUrl: simulator.url,
        onBegin: () => {},
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

describe('an answer', () => {
  const plant = { kind: 'update', question: 'The pump is set to', value: 'ax22', stale: 'ax11' } as const;

  it.each([
    { view: 'set to ax22, was ax11', passages: [], says: 'the new value', stale: false },
    {
      view: 'set to ax11',
      passages: ['set to ax22'],
      says: 'the old value of the view, which nobody doubts',
      stale: true,
    },
    {
      view: 'nothing',
      passages: ['set to ax11', 'set to ax22'],
      says: 'the first that recall shows, the old one',
      stale: true,
    },
    {
      view: 'nothing',
      passages: ['of pumps', 'set to ax22', 'set to ax11'],
      says: 'the first that recall shows, the new one',
      stale: false,
    },
    { view: 'nothing', passages: [], says: 'nothing', stale: false },
    { view: 'set to ax11\nset to ax22', passages: [], says: 'what the view says last, the new value', stale: false },
    { view: 'set to ax22\nset to ax11', passages: [], says: 'what the view says last, the old value', stale: true },
    { view: 'x', passages: ['set to ax22\nset to ax11'], says: 'what a passage says last', stale: true },
  ])('is $says', ({ view, passages, stale }) => {
    expect(answerTo(plant, view, passages).stale).toBe(stale);
    expect(answerTo({ ...plant, stale: null }, view, passages).stale).toBe(false);
  });
});

describe('the figures of the fidelity bench', () => {
  const counts = { asked: 40, inView: 40, reachable: 40, inViewOrReachable: 40, changed: 10, stale: 0 };
  const byKind = Object.fromEntries(PLANT_KINDS.map((kind) => [kind, counts])) as FidelityFigures['byKind'];
  const good: FidelityFigures = {
    ...counts,
    byKind,
    preset: 'default',
    passes: 10,
    rules: { asked: 5, inView: 5 },
    userMessages: { asked: 9, inView: 9 },
    originals: { asked: 900, reachable: 900 },
    withoutSummaries: counts,
    withoutRecall: counts,
  };
  const exitCode = (figures: FidelityFigures): number =>
    checkedExitCode(true, allTargetsMet([...fidelityLines(good), ...fidelityLines(figures)]));

  it('end with 0 when every target of default is met', () => {
    expect(exitCode(good)).toBe(0);
    expect(exitCode({ ...good, preset: 'pi', rules: { asked: 5, inView: 0 } })).toBe(0);
  });

  it.each<[string, Partial<FidelityFigures>]>([
    ['a rule is missing', { rules: { asked: 5, inView: 4 } }],
    ['a message of the user is missing', { userMessages: { asked: 9, inView: 8 } }],
    ['no message of the user was asked for', { userMessages: { asked: 0, inView: 0 } }],
    ['one original is out of reach', { originals: { asked: 900, reachable: 899 } }],
    ['a plant is out of reach', { reachable: 39 }],
    ['an old value is answered', { stale: 1 }],
  ])('end with 1 when %s', (_, bad) => {
    expect(exitCode({ ...good, ...bad })).toBe(1);
  });

  it('end with 1 when a number of compactions was never reached, of any preset', () => {
    const wanted = { presets: ['default', 'pi'], passes: [1, 10] };
    const pi = { ...good, preset: 'pi' };
    const all = [{ ...good, passes: 1 }, good, { ...pi, passes: 1 }, pi];
    const endOf = (reached: readonly FidelityFigures[]): number =>
      checkedExitCode(
        true,
        allTargetsMet([...reached.flatMap(fidelityLines), ...unreachedLines([all, reached], wanted)]),
      );
    expect(endOf(all)).toBe(0);
    for (const left of all) expect(endOf(all.filter((each) => each !== left))).toBe(1);
    const [line, ...more] = unreachedLines([all, all.slice(1)], wanted);
    expect(more).toEqual([]);
    expect(formatTable([line ?? expect.fail('no line')])).toMatch(/default, 1 pass: never reached .*– .*MISSED/);
  });

  it('say nothing of what was not asked for', () => {
    const lines = formatTable(fidelityLines({ ...good, userMessages: { asked: 0, inView: 0 } }));
    expect(lines.split('\n').find((line) => line.includes('user messages verbatim'))).toMatch(/– .*MISSED/);
  });

  it('of several sessions count together, each preset and number of compactions by itself', () => {
    const pi = { ...good, preset: 'pi' };
    const [of, ofPi, ...more] = sumFidelity([
      [good, pi],
      [{ ...good, stale: 3, rules: { asked: 9, inView: 8 } }, pi],
    ]);
    expect(more).toEqual([]);
    expect(of).toMatchObject({
      preset: good.preset,
      passes: good.passes,
      asked: 2 * good.asked,
      stale: good.stale + 3,
    });
    expect(of?.rules).toEqual({ asked: good.rules.asked + 9, inView: good.rules.inView + 8 });
    expect(of?.byKind.fact.asked).toBe(2 * good.byKind.fact.asked);
    expect(ofPi).toMatchObject({ preset: 'pi', asked: 2 * good.asked });
  });
});

describe('the table of the fidelity bench', () => {
  it('has a row for each preset and number of compactions', () => {
    const counts = { asked: 40, inView: 10, reachable: 38, inViewOrReachable: 39, changed: 10, stale: 1 };
    const byKind = {
      fact: counts,
      rule: counts,
      decision: counts,
      path: counts,
      update: counts,
      contradiction: counts,
    };
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
      '| `pi` | 5 | 40 | 10 | 100 % | 25 % | – | 25 % | 95 % | 98 % | 98 % | 10 % | 5 % | 98 % | 10 % | 25 % | 40 % |',
    );
  });
});
