// `npm run check`: everything that must hold before the tests are worth their time. Prints only what failed.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @type {[name: string, command: string, args: string[]][]} */
const checks = [
  ['types', 'tsc', []],
  ['types of the pages', 'tsc', ['-p', 'packages/console']],
  ['lint', 'oxlint', ['-c', 'oxlint.config.mjs', '--deny-warnings']],
  ['format', 'oxfmt', ['--check', '.']],
  ['dead exports', 'knip', []],
];

let failed = 0;
for (const [name, command, args] of checks) {
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync(`${root}node_modules/.bin/${command}`, args, {
    cwd: root,
    encoding: 'utf8',
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`ok      ${name} (${seconds} s)`);
  } else {
    failed += 1;
    console.log(`failed  ${name} (${seconds} s)\n${stdout}${stderr}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
