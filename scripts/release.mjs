// `npm run release`: publishes the packages with provenance, each after those that it needs. Runs where npm can prove the
// origin: a pipeline that lends it an identity. With --dry-run everything but the upload.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['packages/simulator', '.', 'packages/lab'];
/** What readers of the registry need, and nobody but the owner knows. */
const NEEDED = ['repository', 'homepage', 'bugs'];

/** @returns {string[]} what keeps the packages from being published */
function problems() {
  const manifests = folders.map((folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')));
  const found = manifests.flatMap((manifest) =>
    NEEDED.filter((field) => !manifest[field]).map((field) => `${manifest.name} lacks "${field}" in its package.json.`),
  );
  const versions = new Set(manifests.map(({ version }) => version));
  if (versions.size > 1) found.push(`The packages have several versions: ${[...versions].join(', ')}.`);
  if (git('status', '--porcelain') !== '') found.push('The working folder has changes that are not committed.');
  const [version] = versions;
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
    found.push(`HEAD has no tag v${version}.`);
  return found;
}

/** @param {string[]} gitArguments */
function git(...gitArguments) {
  return execFileSync('git', gitArguments, { cwd: root, encoding: 'utf8' }).trim();
}

const refused = problems();
if (refused.length > 0) {
  process.stderr.write(`holdfast: nothing was published.\n${refused.map((problem) => `  ${problem}\n`).join('')}`);
  process.stderr.write('Next: mend this, then run the command again.\n');
  process.exit(1);
}
execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' });
const flags = process.argv.includes('--dry-run') ? ['--dry-run'] : ['--provenance'];
for (const folder of folders) {
  const npmArguments = ['publish', '--access', 'public', '--ignore-scripts', ...flags];
  execFileSync('npm', npmArguments, { cwd: join(root, folder), stdio: 'inherit' });
}
