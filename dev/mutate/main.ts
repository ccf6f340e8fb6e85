// `node dev/mutate`: breaks lines of src one at a time and tells which changes no test notices.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawMutations } from './draw.ts';
import { ModuleUsers } from './module-users.ts';
import { findMutations } from './mutations.ts';
import type { Mutation } from './mutations.ts';
import { insertProbes } from './probes.ts';
import { copyProject, projectFiles } from './project-copy.ts';
import type { ProjectCopy } from './project-copy.ts';
import { runTests } from './run-tests.ts';
import type { TestRun } from './run-tests.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const USAGE = `Usage: node dev/mutate [--seed <text>] [--count <n>] [--workers <n>] [path …]
  --seed     decides which lines are drawn (default: the commit)
  --count    how many (default: 60)
  --workers  of vitest (default: as npm test)
  path       of src; draws from what begins with it (default: src)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '60' },
    workers: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

interface Baseline {
  /** Of each mutation, the test files that reach it. */
  readonly reaching: readonly ReadonlySet<string>[];
  readonly milliseconds: ReadonlyMap<string, number>;
}

/** Runs all tests once, with probes where the mutations are. */
async function runWithProbes(
  copy: ProjectCopy,
  mutations: readonly Mutation[],
  sources: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Baseline> {
  const folder = join(copy.temporary, 'reached');
  mkdirSync(folder);
  // Programs of the tests may run as another user.
  chmodSync(folder, 0o777);
  const probes = insertProbes(mutations, sources, new ModuleUsers(sources), folder);
  for (const [file, source] of probes.sources) copy.write(file, source);
  const { files, output } = await runTests(copy, { workers: values.workers }, signal);
  for (const file of probes.sources.keys()) copy.write(file, sources.get(file) ?? '');
  if (files.length === 0) throw new Error(`vitest ended without a report:\n${output}`);
  const broken = await brokenFiles(copy, files, signal);
  const reaching = probes.tests.map((tests) => new Set(tests));
  for (const writer of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, writer), 'utf8').trim().split('\n')) {
      const [number, test = ''] = line.split(' ');
      if (test !== '' && !broken.has(test)) reaching[Number(number)]?.add(test);
    }
  }
  return { reaching, milliseconds: new Map(files.map(({ file, milliseconds }) => [file, milliseconds])) };
}

/** Files that fail without a mutation: by themselves, and not because of a probe or a busy machine. */
async function brokenFiles(
  copy: ProjectCopy,
  files: TestRun['files'],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const failed = files.filter(({ failure }) => failure !== undefined).map(({ file }) => file);
  if (failed.length === 0) return new Set();
  const again = await runTests(copy, { files: failed, workers: values.workers }, signal);
  const broken = again.files.filter(({ failure }) => failure !== undefined);
  for (const { file, failure } of broken) print(`left out  ${file}, which fails by itself: ${failure}`);
  return new Set(broken.map(({ file }) => file));
}

/** Nearest first: what is named like the file, then what takes less time. */
function inOrder(mutation: Mutation, files: ReadonlySet<string>, durations: Baseline['milliseconds']): string[] {
  const base = (path: string): string => (path.split('/').at(-1) ?? '').replace(/(?:\.test)?\.ts$/u, '');
  const rank = (file: string): number => (base(file) === base(mutation.file) ? -1 : (durations.get(file) ?? 0));
  return [...files].toSorted((one, other) => rank(one) - rank(other));
}

interface Verdict {
  readonly isKilled: boolean;
  readonly why: string;
}

async function judge(
  copy: ProjectCopy,
  mutation: Mutation,
  source: string,
  { reaching, milliseconds }: { reaching: ReadonlySet<string>; milliseconds: Baseline['milliseconds'] },
  signal: AbortSignal,
): Promise<Verdict> {
  if (reaching.size === 0) return { isKilled: false, why: 'no test reaches it' };
  const files = inOrder(mutation, reaching, milliseconds);
  const expected = files.reduce((sum, file) => sum + (milliseconds.get(file) ?? 0), 0);
  copy.write(mutation.file, source.slice(0, mutation.start) + mutation.replacement + source.slice(mutation.end));
  try {
    const options = {
      files,
      stopAtFailure: true,
      timeoutMilliseconds: 180_000 + 3 * expected,
      workers: values.workers,
    };
    let run = await runTests(copy, options, signal);
    const failed = ({ files: ran }: TestRun) => ran.find(({ failure }) => failure !== undefined);
    // Servers that did not start, perhaps: a mutation fails twice.
    if (run.ended === 'failed' && failed(run) === undefined) run = await runTests(copy, options, signal);
    const first = failed(run);
    if (run.ended === 'passed') return { isKilled: false, why: `${files.length} test files` };
    if (first !== undefined) return { isKilled: true, why: `${first.file}: ${first.failure}` };
    return {
      isKilled: true,
      why: run.ended === 'timeout' ? 'timeout' : `no test failed, but the run: ${run.output.slice(-300)}`,
    };
  } finally {
    copy.write(mutation.file, source);
  }
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
  const seed =
    values.seed ?? execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const files = projectFiles(ROOT).filter((file) => /^(?:src|test)\/.*(?<!\.d)\.ts$/u.test(file));
  const sources = new Map(files.map((file): [string, string] => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const wanted = positionals.length === 0 ? ['src/'] : positionals;
  const mutable = files.filter((file) => file.startsWith('src/') && wanted.some((path) => file.startsWith(path)));
  const found = mutable.flatMap((file) => findMutations(file, sources.get(file) ?? ''));
  const drawn = drawMutations(found, seed, Number(values.count));
  print(`seed ${seed}: ${drawn.length} of ${new Set(found.map(({ file, line }) => `${file}:${line}`)).size} lines`);
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interruption.abort());
  const copy = copyProject(ROOT);
  try {
    const baseline = await runWithProbes(copy, drawn, sources, interruption.signal);
    print(`which tests reach them: ${seconds(Date.now() - started)}`);
    let killed = 0;
    for (const [number, mutation] of drawn.entries()) {
      const source = sources.get(mutation.file) ?? '';
      const reaching = baseline.reaching[number] ?? new Set<string>();
      const begun = Date.now();
      const verdict = await judge(copy, mutation, source, { ...baseline, reaching }, interruption.signal);
      if (verdict.isKilled) killed += 1;
      print(
        `${verdict.isKilled ? 'killed  ' : 'survived'}  ${describe(mutation, source)}  (${seconds(Date.now() - begun)}, ${verdict.why})`,
      );
    }
    print(
      `killed ${killed} of ${drawn.length} (${Math.round((100 * killed) / drawn.length)} %) in ${seconds(Date.now() - started)}`,
    );
  } finally {
    copy.remove();
  }
}

if (values.help === true) print(USAGE);
else await main();
