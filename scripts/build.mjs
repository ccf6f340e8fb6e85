// `npm run build`: compiles src to dist, from nothing, so that no file of an earlier build is packed.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status === 0) {
  // Modules that Temporal loads by path are CommonJS, which the compiler leaves where they are.
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.cjs')) cpSync(join(root, 'src', file), join(root, 'dist', file));
  }
  // Shipped ready-made, so that an installed worker starts without bundling.
  const { buildWorkflowBundle } = await import(pathToFileURL(join(root, 'dist/temporal/workflow-bundle.js')).href);
  const { code } = await buildWorkflowBundle();
  writeFileSync(join(root, 'dist/workflow-bundle.js'), code);
}
process.exitCode = status ?? 1;
