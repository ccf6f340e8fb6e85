import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { loadWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'holdfast');
const PREFIX = 'program-';
/** What the program reads beside its code, as in an installed package. */
const BESIDE = ['migrations', 'data', 'scripts', 'package.json'];
/** Programs of older sources are removed once nobody can be running them any more. */
const KEPT_MILLISECONDS = 3_600_000;

/** Relative imports name TypeScript files. */
const IMPORT = /((?:from|import)\s*\(?\s*["']\.{1,2}\/[^"']+)\.ts(?=["'])/g;

const ENTRY = `import { main } from '../dist/cli/main.js';\nawait main(process.argv);\n`;

/**
 * Path of `holdfast` as an installed package has it, compiled once per state of the sources and kept in the cache: a
 * worker started from it needs less than half the processor time of one that tsx compiles while it loads.
 */
export async function compiledProgram(): Promise<string> {
  const sources = await readSources();
  const home = join(CACHE, `${PREFIX}${sources.hash}`);
  const program = join(home, 'bin', 'holdfast.js');
  if (await exists(program)) return program;
  const staging = `${home}.${process.pid}`;
  await rm(staging, { recursive: true, force: true });
  await compile(sources.files, join(staging, 'dist'));
  await mkdir(join(staging, 'bin'));
  await writeFile(join(staging, 'bin', 'holdfast.js'), ENTRY);
  for (const name of BESIDE) await symlink(join(ROOT, name), join(staging, name));
  // Renamed into place, so that two that compile at once never run half a program; the second one throws its own away.
  await rename(staging, home).catch(() => rm(staging, { recursive: true, force: true }));
  await removeOld();
  return program;
}

/** What applications import of a compiled program. */
export function entryPointOf(program: string): string {
  return join(dirname(program), '..', 'dist', 'index.js');
}

async function readSources(): Promise<{ readonly hash: string; readonly files: readonly string[] }> {
  const folder = join(ROOT, 'src');
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.c?ts$/.test(file)).sort();
  const hash = createHash('sha256').update(await readFile(fileURLToPath(import.meta.url)));
  for (const file of files) hash.update(file).update(await readFile(join(folder, file)));
  return { hash: hash.digest('hex').slice(0, 16), files };
}

async function compile(files: readonly string[], target: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: files.filter((file) => file.endsWith('.ts')).map((file) => join(ROOT, 'src', file)),
    outbase: join(ROOT, 'src'),
    outdir: target,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
  });
  for (const { path, text } of outputFiles) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text.replaceAll(IMPORT, '$1.js'));
  }
  // Temporal loads it by path.
  const guard = join('temporal', 'payload-guard.cjs');
  await cp(join(ROOT, 'src', guard), join(target, guard));
  await writeFile(join(target, 'workflow-bundle.js'), (await loadWorkflowBundle()).code);
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    if (!name.startsWith(PREFIX)) continue;
    const { mtimeMs } = await stat(join(CACHE, name));
    if (Date.now() - mtimeMs > KEPT_MILLISECONDS) await rm(join(CACHE, name), { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
