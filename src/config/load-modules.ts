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
    const loaded: Readonly<Record<string, unknown>> = { ...(await importModule(file)) };
    // A CommonJS module has all that it exports under this name.
    const { default: whole } = loaded;
    const exported = [loaded, typeof whole === 'object' ? whole : null]
      .flatMap((each) => Object.values(each ?? {}))
      .flat();
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
  if (/\.[cm]?ts$/u.test(file) && !readsTypeScript()) await loadTsx(file);
  try {
    const loaded: object = await import(pathToFileURL(file).href);
    return loaded;
  } catch (error) {
    throw unusable(file, `cannot be run: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Node from 22.18 on does. Asked first: an import that failed fails again. */
function readsTypeScript(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false;
}

/** The project's own, which registers itself. */
async function loadTsx(file: string): Promise<void> {
  try {
    await import(pathToFileURL(createRequire(file).resolve('tsx')).href);
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
