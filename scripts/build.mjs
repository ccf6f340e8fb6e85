// `npm run build`: compiles the packages to their dist folders, from nothing, so that no file of an earlier build is packed.
// With --if-changed it does nothing when these sources were built already, and leaves the types to `npm run check`: half the time.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Each needs the types of those before it. */
const packages = [join(root, 'packages/simulator'), root, join(root, 'packages/lab')];
const pages = join(root, 'packages/console');
const marker = join(root, 'node_modules/.cache/holdfast/build-sources');
const ifChanged = process.argv.includes('--if-changed');

function digestOfSources() {
  const hash = createHash('sha256');
  const sources = [...packages, pages].flatMap((folder) =>
    readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(tsx?|[cm]js|json|css)$/.test(file))
      .map((file) => join(folder, 'src', file)),
  );
  const settings = packages.map((folder) => join(folder, 'tsconfig.build.json'));
  const ofPages = [join(pages, 'index.html'), join(pages, 'vite.config.ts')];
  const ofRoot = ['package-lock.json', 'tsconfig.json', 'scripts/build.mjs'].map((file) => join(root, file));
  const files = [...ofRoot, ...settings, ...ofPages, ...sources];
  for (const file of files.sort((one, other) => (one < other ? -1 : 1))) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** Makes dist beside its place and moves it there: a build that fails leaves the old one. @param {string} folder */
async function build(folder) {
  // Beside dist, since the code finds migrations and data by their place.
  const made = join(folder, `dist.${process.pid}`);
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const checks = ifChanged ? ['--noCheck'] : [];
    const options = ['-p', 'tsconfig.build.json', '--outDir', made, ...checks];
    const { status } = spawnSync(process.execPath, [compiler, ...options], { cwd: folder, stdio: 'inherit' });
    if (status !== 0) return false;
    if (folder === root) {
      // Temporal loads it by path, which the compiler does not see.
      cpSync(join(root, 'src/temporal/payload-guard.cjs'), join(made, 'temporal/payload-guard.cjs'));
      // Shipped ready-made, so that an installed worker starts without bundling.
      const { buildWorkflowBundle } = await import(pathToFileURL(join(made, 'temporal/workflow-bundle.js')).href);
      const { code } = await buildWorkflowBundle();
      writeFileSync(join(made, 'workflow-bundle.js'), code);
      await buildPages(join(made, 'console'));
      await buildProgram(made);
    }
    rmSync(join(folder, 'dist'), { recursive: true, force: true });
    renameSync(made, join(folder, 'dist'));
    return true;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** The web pages, which the server serves. @param {string} outDir */
async function buildPages(outDir) {
  const { build: bundle } = await import('vite');
  await bundle({ root: pages, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
}

/**
 * The command line in a few files: reading and linking four hundred took a third of the time of a short command. Other packages stay
 * outside, with their licences.
 *
 * @param {string} made
 */
async function buildProgram(made) {
  const { build: bundle } = await import('vite');
  const program = join(made, 'program');
  /** Modules find files by their own place. @type {import('vite').Plugin} */
  const keepPlaces = {
    name: 'keep-places',
    transform: (code, id) =>
      id.startsWith(made)
        ? code.replaceAll('import.meta.url', `new URL(${JSON.stringify(relative(program, id))}, import.meta.url).href`)
        : null,
  };
  await bundle({
    root: made,
    configFile: false,
    logLevel: 'warn',
    plugins: [keepPlaces],
    build: {
      ssr: join(made, 'cli/main.js'),
      outDir: program,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' } },
    },
  });
}

/** What workers of a checkout load. Kept before they start: test processes that begin together would each bundle it. */
async function keepBundleOfSources() {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: join(root, 'tsconfig.json') });
  const { loadWorkflowBundle } = await import(pathToFileURL(join(root, 'src/temporal/workflow-bundle.ts')).href);
  await loadWorkflowBundle();
}

async function buildAll() {
  for (const folder of packages) if (!(await build(folder))) return false;
  await keepBundleOfSources();
  return true;
}

const digest = digestOfSources();
const isBuilt =
  packages.every((folder) => existsSync(join(folder, 'dist'))) &&
  existsSync(marker) &&
  readFileSync(marker, 'utf8') === digest;
if (!ifChanged || !isBuilt) {
  if (await buildAll()) {
    mkdirSync(dirname(marker), { recursive: true });
    writeFileSync(marker, digest);
  } else {
    process.exitCode = 1;
  }
}
