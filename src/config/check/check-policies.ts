/** What is wrong with compaction policies: reducers that do not exist, options that need others, numbers that contradict each other. */
import { changePolicy, changeProblems, policyProblems } from '../../context/policy/change-policy.ts';
import type { PolicyChanges } from '../../context/policy/change-policy.ts';
import { policyForModel } from '../../context/policy/budget.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { BUILT_IN_REGISTRY } from '../../context/plan/reducers/built-in.ts';
import type { Reducers } from '../../context/plan/reducers/built-in.ts';
import { modelFacts } from '../../models/catalogue/catalogue.ts';
import { didYouMean } from '../../tools/runtime/nearest-name.ts';
import { modelOverrides } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import { DEFAULT_AGENT } from '../default-agent.ts';
import { describeOptionProblems, optionPath, valueAt } from './describe-option-problem.ts';
import type { FoundProblem } from './describe-option-problem.ts';
import { invalidConfiguration } from '../errors.ts';
import type { AgentOptions, ModelOptions } from '../options/options.ts';
import { PRESETS } from '../presets.ts';
import type { Presets } from '../presets.ts';
import { configurationOptions } from '../options/options.ts';

type Models = Readonly<Record<string, ModelOptions>>;

interface KnownPolicies {
  readonly presets: Presets;
  /** All reducers of the worker; `undefined` when only a worker with reducers of its own knows them. */
  readonly reducers: Reducers | undefined;
}

/** Of an agent of the file, with each of its models. Pure. */
export function agentPolicyProblems(
  name: string,
  agent: AgentOptions,
  of: KnownPolicies & { readonly models: Models; readonly defaultModel: string },
): FoundProblem[] {
  const preset = of.presets[agent.preset ?? DEFAULT_AGENT.preset];
  if (preset === undefined) return [];
  const path = ['agents', name, 'policy'];
  const named = [agent.model ?? of.defaultModel, ...(agent.fallbacks ?? [])].filter((model) => model.includes('/'));
  return named.flatMap((model) => {
    const ofModel = policyWithChanges(preset, of.models[model]?.policy, ['models', model, 'policy']);
    const ofAgent = policyWithChanges(ofModel.policy, agent.policy, path);
    const { policy } = ofAgent;
    const found = ofModel.problems.concat(ofAgent.problems, reducerProblems(policy, of.reducers, path));
    if (found.length > 0 || policy === PRESETS[preset.name]) return found;
    return numberProblems(policy, model, { models: of.models, path, changes: agent.policy });
  });
}

/**
 * Checks policies that were given in code: the reducers of each preset, which a conversation may choose, and all of each agent's.
 * @throws ConfigurationError naming what is wrong
 */
export function requirePolicies(
  configuration: Pick<Configuration, 'agents' | 'models' | 'presets'>,
  reducers: Reducers,
): void {
  const ofPresets = Object.values(configuration.presets).flatMap((preset) =>
    reducerProblems(preset, reducers, []).map((problem) => inPolicy(`preset ${preset.name}: `, problem)),
  );
  const ofAgents = configuration.agents.flatMap((agent) => {
    const policies = [agent, ...(agent.fallbacks ?? [])].filter(({ policy }) => policy !== PRESETS[policy.name]);
    const found = policies.flatMap(({ model, policy }) =>
      reducerProblems(policy, reducers, []).concat(
        numberProblems(policy, model, { models: configuration.models, path: [] }),
      ),
    );
    return found.map((problem) => inPolicy(`agent ${agent.name}: policy.`, problem));
  });
  const problems = [...ofPresets, ...ofAgents];
  if (problems.length > 0) throw invalidConfiguration(problems);
}

function below(path: readonly string[], problems: readonly FoundProblem[]): FoundProblem[] {
  return problems.map(({ code, message, path: inside }) => ({ code, message, path: [...path, ...inside] }));
}

function inPolicy(of: string, { code, path, message }: FoundProblem) {
  return { code, option: `${of}${optionPath(path)}`, message };
}

/** The policy with changes, or without them where they are wrong. */
export function policyWithChanges(
  policy: CompactionPolicy,
  changes: PolicyChanges = {},
  path: readonly string[],
): { readonly policy: CompactionPolicy; readonly problems: readonly FoundProblem[] } {
  const issues = changeProblems(policy, changes);
  if (issues.length === 0) return { policy: changePolicy(policy, changes), problems: [] };
  const problems = describeOptionProblems(issues, { value: changes, below: path, options: configurationOptions });
  return { policy, problems: below(path, problems) };
}

function reducerProblems(
  policy: CompactionPolicy,
  reducers: Reducers | undefined,
  path: readonly string[],
): FoundProblem[] {
  const known = reducers ?? BUILT_IN_REGISTRY;
  return policy.reduce.flatMap(({ use, options }): FoundProblem[] => {
    const at = [...path, 'reduce', use];
    const reducer = known.get(use);
    if (reducer !== undefined) {
      const { error } = reducer.options.safeParse(options);
      const found = describeOptionProblems(error?.issues ?? [], {
        value: options,
        below: at,
        options: configurationOptions,
      });
      return below(at, found);
    }
    const names = [...known.keys()];
    const hint = didYouMean(use, names);
    // Without the worker's own list, only what looks like a slip is refused: the name may be a reducer of the user's.
    if (reducers === undefined && hint === '') return [];
    const message = `is no reducer${hint} (there are: ${names.join(', ')}; your own come from createWorker)`;
    return [{ code: 'unknown_option', path: at, message }];
  });
}

interface Written {
  readonly models: Models;
  readonly path: readonly string[];
  /** What the file says at that path. */
  readonly changes?: PolicyChanges | undefined;
}

/** Each at an option that the file names, if it names one of those involved. */
function numberProblems(policy: CompactionPolicy, model: string, { models, path, changes }: Written): FoundProblem[] {
  const { limits } = modelFacts(model, modelOverrides(models));
  const ofModel = { base: ['models', model, 'policy'] as readonly string[], given: models[model]?.policy };
  return policyProblems(policyForModel(policy, model), limits).map(({ options, message }) => {
    const paths = options.map((option) => option.split('.'));
    const named = [{ base: path, given: changes }, ofModel].flatMap(({ base, given }) =>
      paths.filter((option) => valueAt(given, option) !== undefined).map((option) => base.concat(option)),
    );
    return {
      code: 'contradiction',
      path: named[0] ?? path.concat(paths[0] ?? []),
      message: `contradicts another number with the model ${model} (window ${limits.window} tokens): ${message}`,
    };
  });
}
