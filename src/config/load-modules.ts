import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ToolDefinition } from '../tools/tool.ts';
import type { DefinedAgent } from './definitions.ts';
import { ConfigurationError } from './errors.ts';

/** What `modules` of `holdfast.yaml` export. */
export interface ExportedParts {
  readonly agents: readonly DefinedAgent[];
  readonly tools: readonly ToolDefinition[];
}

/**
 * Runs the files and takes the agents and tools that they export, one by one or in lists.
 * @param files absolute paths
 * @throws ConfigurationError `module_unusable` for one that cannot be run or exports neither
 */
export async function loadModules(files: readonly string[]): Promise<ExportedParts> {
  // What two modules export is one.
  const agents = new Set<DefinedAgent>();
  const tools = new Set<ToolDefinition>();
  for (const file of files) {
    const exported = Object.values(await importModule(file)).flat();
    if (!exported.some((each) => isAgent(each) || isTool(each)))
      throw unusable(file, 'exports no agent and no tool: export what `defineAgent` and `defineTool` return');
    for (const each of exported) {
      if (isAgent(each)) agents.add(each);
      else if (isTool(each)) tools.add(each);
    }
  }
  return { agents: [...agents], tools: [...tools] };
}

async function importModule(file: string): Promise<object> {
  const load = (): Promise<object> => import(pathToFileURL(file).href);
  try {
    return await load().catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION')) throw error;
      registerTsx(file);
      return load();
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw unusable(file, `cannot be run: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Node before 22.18 does not read TypeScript by itself: the project's tsx does. */
function registerTsx(file: string): void {
  const require = createRequire(file);
  try {
    for (const loader of ['tsx/cjs/api', 'tsx/esm/api']) {
      const api: { readonly register: () => unknown } = require(loader);
      api.register();
    }
  } catch (error) {
    const what = `is TypeScript, which Node ${process.versions.node} reads with tsx only: npm install tsx`;
    throw unusable(file, what, { cause: error });
  }
}

function isTool(value: unknown): value is ToolDefinition {
  return isPart(value, 'effect') && typeof value.run === 'function';
}

function isAgent(value: unknown): value is DefinedAgent {
  return isPart(value, 'policy') && 'instructions' in value;
}

function isPart<Key extends string>(value: unknown, key: Key): value is { readonly [name in Key | 'run']: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && key in value;
}

function unusable(file: string, what: string, options: ErrorOptions = {}): ConfigurationError {
  return new ConfigurationError('module_unusable', `The module ${file} ${what}.`, options);
}
