import { basename, dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Tests of whole programs: too expensive for one line, and what they show other tests show nearer. */
const SKIPPED = /^test\/(?:deployment|dev|faults|llama|package|postgres)\//u;
/** What tests start processes with. */
const STARTS_PROCESSES =
  /^test\/(?:support\/(?:dev-process|dying-sender|project-copy|worker-process)|cli\/run-cli)\.ts$/u;

/** Temporal's bundle is made of files that nothing imports. */
const BUNDLED = { from: 'src/temporal/workflow-bundle.ts', to: 'src/workflows/index.ts' };

/** What a module imports, in paths relative to the project; types left out. */
function importsOf(file: string, source: string): string[] {
  const { module } = parseSync(file, source);
  const imports = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const exports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType }) => (moduleRequest === null || isType ? [] : [moduleRequest.value])),
  );
  // Commands are loaded when they are called.
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1));
  const relative = [...imports, ...exports, ...dynamic].filter((specifier) => specifier.startsWith('.'));
  const paths = relative.map((specifier) => normalize(join(dirname(file), specifier)));
  return file === BUNDLED.from ? [...paths, BUNDLED.to] : paths;
}

/** As near as this many imports. */
const MOST_FOR_WORDS = 8;
const MOST_FOR_NAMES = 8;

/** Which tests load a file, and by how many imports. */
export class ImportGraph {
  private readonly importers = new Map<string, string[]>();
  private readonly imports: ReadonlyMap<string, readonly string[]>;
  private readonly sources: ReadonlyMap<string, string>;

  /** @param sources text by path, relative to the project */
  constructor(sources: ReadonlyMap<string, string>) {
    this.sources = sources;
    this.imports = new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]));
    for (const [file, imports] of this.imports)
      for (const imported of imports) this.importers.set(imported, [...(this.importers.get(imported) ?? []), file]);
  }

  /**
   * Tests that load a file, nearest first: the one of the same name, then by imports, by the words of its name and the names in the line that
   * they use (most files are loaded by most tests, and few are about them), and those of the same folder first.
   * @param line its text, if one line is meant
   */
  nearestTests(file: string, line = ''): string[] {
    const folder = `${dirname(file).replace(/^src/u, 'test')}/`;
    const itsOwn = `${basename(file, '.ts')}.test.ts`;
    const distances = this.distancesFrom(file, this.importers);
    const tests = [...distances.keys()].filter(
      (test) => test.endsWith('.test.ts') && !SKIPPED.test(test) && !this.startsProcesses(test),
    );
    const named = this.namesUsed(line, tests);
    const rank = (test: string): number =>
      basename(test) === itsOwn
        ? -Infinity
        : 2 * (distances.get(test) ?? Infinity) +
          (test.startsWith(folder) ? 0 : 1) -
          this.wordsUsed(file, test) -
          (named.get(test) ?? 0);
    return tests.sort((one, other) => rank(one) - rank(other));
  }

  /** The fewer tests use a name, the more it says. */
  private namesUsed(line: string, tests: readonly string[]): Map<string, number> {
    const used = new Map<string, number>();
    for (const name of new Set(line.match(/\b[A-Za-z_]{5,}\b/gu))) {
      const users = tests.filter((test) => this.sources.get(test)?.includes(name) === true);
      const rarity = Math.log(tests.length / users.length) / Math.log(tests.length);
      for (const test of users) used.set(test, Math.max(used.get(test) ?? 0, MOST_FOR_NAMES * rarity));
    }
    return used;
  }

  private wordsUsed(file: string, test: string): number {
    const words = basename(file, '.ts').split('-');
    const text = (this.sources.get(test) ?? '').toLowerCase();
    const uses = words.map((word) => (test.includes(word) ? 4 : Math.min(4, text.split(word).length - 1)));
    return (MOST_FOR_WORDS / 4) * (uses.reduce((sum, each) => sum + each, 0) / words.length);
  }

  private startsProcesses(test: string): boolean {
    return [...this.distancesFrom(test, this.imports).keys()].some((file) => STARTS_PROCESSES.test(file));
  }

  private distancesFrom(file: string, edges: ReadonlyMap<string, readonly string[]>): Map<string, number> {
    const distances = new Map([[file, 0]]);
    // A map goes on with what is added while it is read.
    for (const [at, distance] of distances)
      for (const next of edges.get(at) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
    return distances;
  }
}
