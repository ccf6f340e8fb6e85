import { stringify } from 'yaml';
import { UsageError } from '../../src/cli/usage-error.ts';
import type { ConfigurationOptions } from '../../src/config/options/options.ts';
import { resultLimitFor } from '../../src/tools/runtime/compose-result.ts';
import { filesOf } from './job.ts';
import type { Job, JobFile } from './job.ts';
import type { DemoOptions } from './options.ts';
import { instructionsText } from './task-text.ts';

export const AGENT = 'reader';
export const WORKSPACE = 'workspace';

const TOOLS = ['list_files', 'read_file', 'write_file', 'edit_file', 'recall_search', 'recall_open'];

/** Steps that are neither a page read nor a part of what is read: the report, lookups. */
const FURTHER_STEPS = 150;

/** Model calls of the turn: several times what it takes, so that a model that looks things up for ever comes to an end. */
function mostSteps(options: Pick<DemoOptions, 'window'>, files: readonly JobFile[]): number {
  const pages = files.reduce((sum, file) => sum + Math.ceil(file.bytes.length / resultLimitFor(options.window)), 0);
  return pages * 3 + FURTHER_STEPS;
}

const SIMULATOR_PROVIDER = 'simulator';

/** `provider/model` of the demo. */
export function modelOf(options: Pick<DemoOptions, 'model' | 'window'>): string {
  return options.model ?? `${SIMULATOR_PROVIDER}/sim-${options.window / 1_024}k`;
}

/** Whether the demo needs the simulator. */
export function usesSimulator(options: Pick<DemoOptions, 'model' | 'baseUrl'>): boolean {
  return options.baseUrl === null && (options.model === null || options.model.startsWith(SIMULATOR_PROVIDER));
}

const KEYS: Readonly<Record<string, string>> = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };

/** @throws UsageError when a vendor's model is asked for without its key */
export function requireKey(options: Pick<DemoOptions, 'model' | 'baseUrl'>, environment: NodeJS.ProcessEnv): void {
  const variable = KEYS[providerOf(options.model ?? '')];
  if (variable === undefined || options.baseUrl !== null || (environment[variable] ?? '') !== '') return;
  throw new UsageError(
    'usage',
    `--model ${options.model} needs a key.`,
    `Set ${variable}, or leave --model out to use the simulator.`,
  );
}

function providerOf(model: string): string {
  return model.split('/', 1)[0] ?? '';
}

/** What `holdfast.yaml` of the demo's folder holds, typed as Holdfast reads it. */
export function demoConfiguration(options: DemoOptions, job: Job): ConfigurationOptions {
  const model = modelOf(options);
  return {
    defaultModel: model,
    agents: {
      [AGENT]: {
        instructions: instructionsText(job),
        tools: TOOLS,
        workspace: WORKSPACE,
        limits: { steps: mostSteps(options, filesOf(job)) },
        ...(!options.compaction && { policy: { enabled: false } }),
      },
    },
    // The window that was asked for counts for a real model too, so that it has to compact as the simulator does.
    ...(usesSimulator(options) ? {} : { models: { [model]: { window: options.window } } }),
    ...(options.baseUrl === null ? {} : { providers: { [providerOf(model)]: providerAt(model, options.baseUrl) } }),
  };
}

/** Servers of other makers speak Chat Completions; Anthropic's own protocol stays with its name. */
function providerAt(model: string, baseUrl: string) {
  const provider = providerOf(model);
  return provider === 'anthropic' ? { baseUrl } : { protocol: 'chat' as const, baseUrl };
}

/** `holdfast.yaml` as text. */
export function configurationText(options: DemoOptions, job: Job): string {
  return `# The configuration of this demo. Commands that run in this folder use it.\n${stringify(demoConfiguration(options, job))}`;
}
