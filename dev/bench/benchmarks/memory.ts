import { PRESETS } from '../../../src/config/presets.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { FidelityFigures } from '../fidelity/measure-fidelity.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { measureFidelityOfPresets } from '../memory/fidelity-of-presets.ts';
import { FIDELITY_SHARES, fidelityTable } from '../memory/fidelity-table.ts';
import { sumFidelity } from '../memory/sum-fidelity.ts';
import { writeToPresetsPage } from '../presets-page.ts';
import { exactly } from '../statistics.ts';

/** Answers of the agent: enough for ten compactions under every preset. */
const STEPS = 420;
const PASSES = [1, 5, 10];
/** Sessions, each planted by a seed of its own: of one, too few facts change for a share of 2 % to mean anything. */
const SESSIONS = 3;

/** What an agent still knows after 1, 5 and 10 compactions under each preset. */
export async function measureMemory({ database, connections }: BenchStack, options: BenchOptions): Promise<Figure[]> {
  const simulatorUrl = connections.simulatorUrl ?? '';
  const policies = Object.values(PRESETS);
  const sessions: FidelityFigures[][] = [];
  for (let session = 0; session < SESSIONS; session += 1) {
    const seed = options.seed + session;
    sessions.push(
      await measureFidelityOfPresets(database, { simulatorUrl, seed, policies, steps: STEPS, passes: PASSES }),
    );
  }
  const figures = sumFidelity(sessions);
  if (options.writePage) await writeToPresetsPage('npm run bench -- memory --write-page', fidelityTable(figures));
  return [
    ...figures.flatMap(fidelityLines),
    ...unreachedLines(sessions, { presets: policies.map(({ name }) => name), passes: PASSES }),
  ];
}

/** What was to be asked and in one of the sessions never was, because it was too short or the preset gave up, meets no target, of whatever preset. */
function unreachedLines(
  sessions: readonly (readonly Pick<FidelityFigures, 'preset' | 'passes'>[])[],
  wanted: { readonly presets: readonly string[]; readonly passes: readonly number[] },
): Figure[] {
  const lineOf = (preset: string, passes: number): Figure => ({
    benchmark: 'memory',
    name: `${headOf({ preset, passes })}: never reached`,
    unit: '%',
    target: { atLeast: 100 },
    ...exactly(Number.NaN),
  });
  return wanted.presets.flatMap((preset) =>
    wanted.passes
      .filter((passes) =>
        sessions.some((figures) => !figures.some((each) => each.preset === preset && each.passes === passes)),
      )
      .map((passes) => lineOf(preset, passes)),
  );
}

function headOf({ preset, passes }: Pick<FidelityFigures, 'preset' | 'passes'>): string {
  return `${preset}, ${passes} ${passes === 1 ? 'pass' : 'passes'}`;
}

/** What was asked for nothing is no number, and meets no target. */
function fidelityLines(figures: FidelityFigures): Figure[] {
  const lines: Figure[] = [];
  for (const { name, of, target } of FIDELITY_SHARES) {
    const [part, whole] = of(figures);
    lines.push({
      benchmark: 'memory',
      name: `${headOf(figures)}: ${name}`,
      unit: '%',
      ...(figures.preset === 'default' && target !== undefined && { target }),
      ...exactly(whole === 0 ? Number.NaN : (part / whole) * 100),
    });
  }
  return lines;
}
