// `npm run build`: compiles src to dist, from nothing, so that no file of an earlier build is packed.
// With --if-changed it does nothing when dist is of these sources already.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const marker = join(root, 'node_modules/.cache/holdfast/build-sources');

function digestOfSources() {
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|cjs|json)$/.test(file),
  );
  const files = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...sources.map((file) => `src/${file}`)];
  for (const file of files.sort((one, other) => (one < other ? -1 : 1)))
    hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** @param {string} folder where dist is made before it takes its place: a build that fails leaves the old one */
async function build(folder) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) return status ?? 1;
  // Modules that Temporal loads by path are CommonJS, which the compiler leaves where they are.
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.cjs')) cpSync(join(root, 'src', file), join(folder, file));
  }
  // Shipped ready-made, so that an installed worker starts without bundling.
  const { buildWorkflowBundle } = await import(pathToFileURL(join(folder, 'temporal/workflow-bundle.js')).href);
  const { code } = await buildWorkflowBundle();
  writeFileSync(join(folder, 'workflow-bundle.js'), code);
  rmSync(dist, { recursive: true, force: true });
  renameSync(folder, dist);
  return 0;
}

const digest = digestOfSources();
const isBuilt = existsSync(dist) && existsSync(marker) && readFileSync(marker, 'utf8') === digest;
if (!process.argv.includes('--if-changed') || !isBuilt) {
  // Beside dist, since the code finds migrations and data by their place.
  const folder = join(root, `dist.${process.pid}`);
  try {
    process.exitCode = await build(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  mkdirSync(dirname(marker), { recursive: true });
  if (process.exitCode === 0) writeFileSync(marker, digest);
}
