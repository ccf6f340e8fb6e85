// `node dev/mutate`: breaks lines of src one at a time and tells which changes no test notices.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawMutations } from './draw.ts';
import { findMutations } from './mutations.ts';
import type { Mutation } from './mutations.ts';
import { ImportGraph } from './nearest-tests.ts';
import { copyProject, projectFiles } from './project-copy.ts';
import type { ProjectCopy } from './project-copy.ts';
import { TestRunner } from './test-runner.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const USAGE = `Usage: node dev/mutate [--seed <text>] [--count <n>] [--tests <n>] [path …]
  --seed   decides which lines are drawn (default: the commit)
  --count  how many (default: 60)
  --tests  how many of the nearest test files each is shown to (default: 12)
  path     of src; draws from what begins with it (default: src); file:line, of that line
Lines that only tests of whole programs run are not drawn.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '60' },
    tests: { type: 'string', default: '12' },
    help: { type: 'boolean', short: 'h' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

interface Verdict {
  readonly isKilled: boolean;
  readonly why: string;
}

/** Shows mutations to the tests nearest to them. */
class Judge {
  /** Whether a test file passes without a mutation, of those that were needed. */
  private readonly healthy = new Map<string, boolean>();

  private readonly copy: ProjectCopy;
  private readonly runner: TestRunner;
  private readonly graph: ImportGraph;

  constructor(copy: ProjectCopy, runner: TestRunner, graph: ImportGraph) {
    this.copy = copy;
    this.runner = runner;
    this.graph = graph;
  }

  async judge(mutation: Mutation, source: string): Promise<Verdict> {
    const { file, start, end, replacement } = mutation;
    const tests = this.graph
      .nearestTests(file, source.split('\n')[mutation.line - 1])
      .filter((test) => this.healthy.get(test) !== false)
      .slice(0, Number(values.tests));
    if (tests.length === 0) return { isKilled: false, why: 'no test loads it' };
    this.copy.write(file, source.slice(0, start) + replacement + source.slice(end));
    // The types first: they take seconds, and all tests that let a mutation pass take minutes.
    const outcome = firstTypeError(this.copy) ?? (await this.runner.run(tests, file));
    this.copy.write(file, source);
    if (typeof outcome === 'string') return { isKilled: true, why: outcome };
    const { failure, isStuck, ended } = outcome;
    if (isStuck) return { isKilled: true, why: 'timeout' };
    if (failure === null) return { isKilled: false, why: `${ended} of ${tests.length} test files` };
    if (await this.isHealthy(failure.file, file)) return { isKilled: true, why: `${failure.file}: ${failure.what}` };
    return this.judge(mutation, source);
  }

  /** What fails on a busy machine, or for another reason, kills no mutation. */
  private async isHealthy(test: string, changed: string): Promise<boolean> {
    const known = this.healthy.get(test);
    if (known !== undefined) return known;
    const { failure } = await this.runner.run([test], changed);
    this.healthy.set(test, failure === null);
    if (failure !== null) print(`left out  ${test}, which fails by itself: ${failure.what}`);
    return failure === null;
  }
}

/** What `npm run check` refuses needs no test. */
function firstTypeError({ root, temporary }: ProjectCopy): string | null {
  const options = ['--incremental', '--tsBuildInfoFile', join(temporary, 'types')];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), options, { cwd: root, encoding: 'utf8' });
  return /^.*error TS.*$/mu.exec(stdout)?.[0] ?? null;
}

function describe({ file, line, start, end, replacement }: Mutation, source: string): string {
  const short = (text: string): string => {
    const flat = text.replaceAll(/\s+/gu, ' ').trim();
    return flat.length > 60 ? `${flat.slice(0, 57)}…` : flat;
  };
  return `${file}:${line}  ${short(source.slice(start, end)) || '(nothing)'} → ${short(replacement) || '(nothing)'}`;
}

async function main(): Promise<void> {
  const started = Date.now();
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const seed = values.seed ?? commit;
  const files = projectFiles(ROOT).filter((file) => /^(?:src|test)\/.*(?<!\.d)\.ts$/u.test(file));
  const sources = new Map(files.map((file): [string, string] => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const wanted = positionals.length === 0 ? ['src/'] : positionals;
  const graph = new ImportGraph(sources);
  const chosen = files.filter((file) => wanted.some((path) => file.startsWith(path.replace(/:\d+$/u, ''))));
  const mutable = chosen.filter((file) => graph.nearestTests(file).length > 0);
  print(
    `${chosen.length - mutable.length} of ${chosen.length} files are left out: only tests of whole programs run them`,
  );
  const found = mutable
    .flatMap((file) => findMutations(file, sources.get(file) ?? ''))
    .filter(({ file, line }) => wanted.some((path) => `${file}:${line}` === path || file.startsWith(path)));
  const drawn = drawMutations(found, seed, Number(values.count));
  print(`seed ${seed}: ${drawn.length} of ${new Set(found.map(({ file, line }) => `${file}:${line}`)).size} lines`);
  const copy = copyProject(ROOT);
  process.once('exit', () => copy.remove());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
  process.chdir(copy.root);
  const typeError = firstTypeError(copy);
  if (typeError !== null) throw new Error(`without a mutation: ${typeError}`);
  const runner = await TestRunner.start(copy);
  const judge = new Judge(copy, runner, graph);
  let killed = 0;
  for (const [number, mutation] of drawn.entries()) {
    const source = sources.get(mutation.file) ?? '';
    const begun = Date.now();
    const { isKilled, why } = await judge.judge(mutation, source);
    if (isKilled) killed += 1;
    print(`${isKilled ? 'killed  ' : 'survived'}  ${describe(mutation, source)}  (${seconds(begun)}, ${why})`);
    if (number % 10 === 9) print(`${killed} of ${number + 1}, ${seconds(started)}`);
  }
  await runner.close();
  print(`killed ${killed} of ${drawn.length} (${Math.round((100 * killed) / drawn.length)} %) in ${seconds(started)}`);
  process.exit();
}

if (values.help === true) print(USAGE);
else await main();
