import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findTemporalCli } from '../../src/local/setup/temporal-cli.mjs';
import { temporaryDirectory } from './servers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a clone has, as far as set-up and its commands need it. */
const COPIED = [
  'bin',
  'dev',
  'migrations',
  'package.json',
  'package-lock.json',
  'packages',
  'scripts',
  'src',
  'test/support',
  'tsconfig.json',
  'vitest.config.ts',
];

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A fresh clone without packages. Its `npm` is a script that links this project's packages, or fails as it is told. */
export interface ProjectCopy {
  readonly root: string;
  /** Replaces what `npm ci` does; a shell script. */
  setNpm(script: string): Promise<void>;
  /** How often `npm` was called. */
  npmCalls(): Promise<number>;
  run(script: string, scriptArguments?: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Outcome>;
  remove(): Promise<void>;
}

/** Makes node_modules as npm does it: packages first, npm's own marker last. */
export const LINK_PACKAGES = `
rm -rf node_modules && mkdir -p node_modules/.bin
ln -s "${ROOT}"node_modules/* node_modules/
echo '{}' > node_modules/.package-lock.json
`;

/** What only a program of Holdfast's own or its tests need. */
const SOURCES: ReadonlySet<string> = new Set(['dev', 'migrations', 'packages', 'src', 'test/support']);

/**
 * @param options.hasSources false where nothing but the set-up runs: a thousand files take half a second of the processor to copy
 * and remove. Default: true.
 */
export async function copyProject({ hasSources = true } = {}): Promise<ProjectCopy> {
  const root = await temporaryDirectory('clone');
  const programs = join(root, 'programs');
  const calls = join(root, 'npm-calls');
  await Promise.all([mkdir(programs), mkdir(calls)]);
  await mkdir(join(root, 'test'));
  // The program rather than Node's own copying, which takes half a second for a thousand files.
  const copied = COPIED.filter((name) => hasSources || !SOURCES.has(name));
  for (const name of copied) await promisify(execFile)('cp', ['-R', join(ROOT, name), join(root, name)]);
  if (!hasSources) {
    await Promise.all(['src/cli', 'src/local'].map((name) => mkdir(join(root, name), { recursive: true })));
    await promisify(execFile)('cp', ['-R', join(ROOT, 'src/local/setup'), join(root, 'src/local/setup')]);
    await writeFile(join(root, 'src/cli/main.ts'), '');
  }
  for (const name of ['sh', 'rm', 'mkdir', 'ln', 'mktemp', 'sleep', 'node']) await linkProgram(name, programs);
  const setNpm = async (script: string): Promise<void> => {
    const path = join(programs, 'npm');
    await rm(path, { force: true });
    await writeFile(path, `#!/bin/sh\nmktemp "${calls}/XXXXXX" > /dev/null\ncd "${root}"\n${script}\n`);
    await chmod(path, 0o755);
  };
  await setNpm(LINK_PACKAGES);
  return {
    root,
    setNpm,
    npmCalls: async () => (await readdir(calls)).length,
    run: async (script, scriptArguments = [], environment = {}) =>
      runNode(join(root, script), scriptArguments, {
        PATH: programs,
        HOME: root,
        TMPDIR: process.env['TMPDIR'],
        HOLDFAST_TEMPORAL_CLI: findTemporalCli()?.path,
        ...environment,
      }),
    remove: async () => rm(root, { recursive: true, force: true }),
  };
}

/** A PATH of its own: what the machine has besides (another npm, a Temporal CLI, Python) does not count. */
async function linkProgram(name: string, programs: string): Promise<void> {
  const path = name === 'node' ? process.execPath : await which(name);
  await symlink(path, join(programs, name));
}

async function which(name: string): Promise<string> {
  const { code, stdout } = await collect(spawn('/bin/sh', ['-c', `command -v ${name}`]));
  if (code !== 0) throw new Error(`there is no ${name} on PATH`);
  return stdout.trim();
}

async function runNode(
  script: string,
  scriptArguments: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Outcome> {
  return collect(spawn(process.execPath, [script, ...scriptArguments], { env: environment }));
}

async function collect(child: ReturnType<typeof spawn>): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
