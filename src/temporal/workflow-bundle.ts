import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { dataConverter } from './data-converter.ts';

const SOURCE_FOLDERS = ['workflows', 'turn', 'context', 'temporal'];

let loaded: Promise<WorkflowBundleWithSourceMap> | undefined;

/**
 * The code that Temporal replays, bundled and loaded once per process. An installed package ships it. A checkout builds it once per state
 * of the sources (1 s) and keeps it in `node_modules/.cache/holdfast`.
 */
export async function loadWorkflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  loaded ??= findWorkflowBundle().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function findWorkflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  const shipped = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(shipped)) return { code: readFileSync(shipped, 'utf8'), sourceMap: '' };
  const cached = cachePath();
  if (existsSync(cached)) return { code: readFileSync(cached, 'utf8'), sourceMap: '' };
  const bundle = await buildWorkflowBundle();
  // Renamed into place, so that workers that start together never read half a file.
  mkdirSync(dirname(cached), { recursive: true });
  const temporary = `${cached}.${process.pid}`;
  writeFileSync(temporary, bundle.code);
  renameSync(temporary, cached);
  return bundle;
}

export async function buildWorkflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: sibling('../workflows/index'),
    workflowInterceptorModules: [sibling('../workflows/payload-guard-interceptor')],
    ...(dataConverter.payloadConverterPath !== undefined && {
      payloadConverterPath: dataConverter.payloadConverterPath,
    }),
    ...(dataConverter.failureConverterPath !== undefined && {
      failureConverterPath: dataConverter.failureConverterPath,
    }),
    logger: silentLogger,
  });
}

const ignore = (): void => undefined;
/** Webpack's errors are thrown; its statistics do not help a user. */
const silentLogger = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** `.ts` in a checkout, `.js` in the built package. */
function sibling(path: string): string {
  const typescript = fileURLToPath(new URL(`${path}.ts`, import.meta.url));
  return existsSync(typescript) ? typescript : fileURLToPath(new URL(`${path}.js`, import.meta.url));
}

function cachePath(): string {
  const hash = createHash('sha256');
  const require = createRequire(import.meta.url);
  hash.update(readFileSync(require.resolve('@temporalio/worker/package.json')));
  for (const folder of SOURCE_FOLDERS) {
    const path = fileURLToPath(new URL(`../${folder}`, import.meta.url));
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()) {
      if (/\.(ts|js|cjs)$/.test(file)) hash.update(file).update(readFileSync(join(path, file)));
    }
  }
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return join(root, 'node_modules', '.cache', 'holdfast', `workflow-bundle-${hash.digest('hex').slice(0, 16)}.js`);
}
