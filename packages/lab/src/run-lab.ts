import { factsOf, providerNamed } from 'holdfast/internal/config/configuration.js';
import type { Configuration } from 'holdfast/internal/config/configuration.js';
import { DEFAULT_AGENT } from 'holdfast/internal/config/default-agent.js';
import { definedOf } from 'holdfast/internal/context/policy/defined-of.js';
import type { ModelLimits } from 'holdfast/internal/context/plan/plan.js';
import type { CompactionPolicy } from 'holdfast/internal/context/policy/policy.js';
import { policyProblems } from 'holdfast/internal/context/policy/change-policy.js';
import type { AgentView } from 'holdfast/internal/context/view/view.js';
import type { Database } from 'holdfast/internal/store/database/database.js';
import { BUILT_IN_MODELS } from 'holdfast/internal/models/catalogue/built-in-models.js';
import { modelFacts } from 'holdfast/internal/models/catalogue/catalogue.js';
import { createModelClients } from 'holdfast/internal/models/model-clients.js';
import { parseModelName } from 'holdfast/internal/models/catalogue/model-name.js';
import { startSimulator } from '@holdfast/simulator';
import { createBuiltInTools } from 'holdfast/internal/tools/builtin/built-in-tools.js';
import { createToolRegistry } from 'holdfast/internal/tools/runtime/registry.js';
import type { ModelPrices } from 'holdfast/internal/turn/agent-snapshot.js';
import { UsageError } from 'holdfast/internal/cli/usage-error.js';
import { figuresOf } from './lab-figures.ts';
import type { PresetFigures } from './lab-figures.ts';
import type { ImportReport } from 'holdfast/internal/import/read/import-report.js';
import { createLabAgent } from './replay/lab-agent.ts';
import type { LabSummarizer } from './replay/lab-agent.ts';
import { prepareFacts } from './replay/replay-facts.ts';
import type { SessionFacts } from './replay/replay-facts.ts';
import { replaySession } from './replay/replay-session.ts';
import type { Replay } from './replay/replay-session.ts';
import { loadSessions } from './session/lab-session.ts';
import type { LabSession } from './session/lab-session.ts';

/** Prices for sessions of a model that the catalogue does not know, unless others are asked for. */
const FALLBACK_PRICES = 'anthropic/claude-sonnet-5-5';
/** What a worker tells of its machine, the same on each, so that a replay is. */
const SOME_DEVICE = 'System: linux 6.8.0 (x64)\nLocale: en-US\nTime zone: Europe/Berlin';
/** The smallest window that leaves room for instructions, tools and an answer. Tokens. */
const SMALLEST_WINDOW = 4_096;

export interface LabOptions {
  readonly files: readonly string[];
  /** Tokens. */
  readonly windows: readonly number[];
  readonly policies: readonly CompactionPolicy[];
  /** `provider/model` that summarizes; `null`: the simulator, started in this process. */
  readonly model: string | null;
  /** `provider/model` whose prices count; `null`: those of the session's own model. */
  readonly prices: string | null;
  readonly seed: number;
  /** Facts that each replay is asked for at most. */
  readonly facts: number;
  readonly configuration: Configuration;
  /** Migrated, for this run alone. Opened before the first replay. */
  readonly openDatabase: () => Promise<Database>;
  /** Told before each replay. */
  readonly onReplay?: (what: { readonly session: string; readonly preset: string; readonly window: number }) => void;
}

export interface LabResult {
  readonly files: readonly ImportReport[];
  readonly sessions: number;
  /** `provider/model` that summarized, by window. */
  readonly summarizers: Readonly<Record<number, string>>;
  /** Models whose prices counted. */
  readonly pricedAs: readonly string[];
  readonly seed: number;
  readonly presets: readonly PresetFigures[];
  /** Presets that a worker would refuse to run at that window, and why. */
  readonly refused: readonly RefusedPreset[];
  readonly replays: readonly Replay[];
}

export interface RefusedPreset {
  readonly name: string;
  readonly window: number;
  readonly problem: string;
}

interface Summarizers {
  forWindow(window: number, priced: PricedAs): LabSummarizer;
  close(): Promise<void>;
}

/**
 * Replays every session under every policy at every window.
 * @throws SessionFileError for a file that it cannot work with; UsageError for an option; ConfigurationError for the summarizing model
 */
export async function runLab(options: LabOptions): Promise<LabResult> {
  checkOptions(options);
  const summarizers = await openSummarizers(options);
  const pricedAs = new Set<string>();
  const refused = new Map<string, RefusedPreset>();
  const files: ImportReport[] = [];
  const replays: Replay[] = [];
  try {
    for (const file of options.files) {
      const loaded = await loadSessions(file);
      try {
        files.push(loaded.report);
        for (const session of loaded.sessions) {
          const priced = pricesFor(session, options);
          pricedAs.add(priced.model);
          for (const each of refusedPresets(options, priced)) refused.set(`${each.name} ${each.window}`, each);
          replays.push(...(await replayAll(session, options, { summarizers, priced })));
        }
      } finally {
        loaded.close();
      }
    }
  } finally {
    await summarizers.close();
  }
  return {
    files,
    sessions: files.reduce((sum, { sessions }) => sum + sessions, 0),
    summarizers: Object.fromEntries(replays.map(({ agent }) => [agent.limits.window, agent.summarizer.model])),
    pricedAs: [...pricedAs],
    seed: options.seed,
    presets: groupReplays(replays).map(figuresOf),
    refused: [...refused.values()],
    replays,
  };
}

interface PricedAs {
  readonly model: string;
  readonly prices: ModelPrices;
  readonly maximumOutput: number;
}

async function replayAll(
  session: LabSession,
  options: LabOptions,
  of: { readonly summarizers: Summarizers; readonly priced: PricedAs },
): Promise<Replay[]> {
  const facts: SessionFacts = prepareFacts(session, { seed: options.seed, size: options.facts });
  const database = await options.openDatabase();
  const replays: Replay[] = [];
  for (const window of options.windows) {
    const limits = limitsAt(window, of.priced);
    const summarizer = of.summarizers.forWindow(window, of.priced);
    const replayed = options.policies.map(async (policy) => {
      if (policyProblems(policy, limits).length > 0) return [];
      options.onReplay?.({ session: session.label, preset: policy.name, window });
      const view = agentView(session, policy);
      const agent = createLabAgent({ view, policy, limits, prices: of.priced.prices, summarizer });
      return [await replaySession(database, session, agent, facts)];
    });
    // Side by side, because each of them mostly waits for Postgres.
    replays.push(...(await Promise.all(replayed)).flat());
  }
  return replays;
}

function limitsAt(window: number, { maximumOutput }: PricedAs): ModelLimits {
  return { window, maximumOutput: Math.min(maximumOutput, window) };
}

function refusedPresets({ policies, windows }: LabOptions, priced: PricedAs): RefusedPreset[] {
  return windows.flatMap((window) =>
    policies.flatMap((policy) => {
      const [problem] = policyProblems(policy, limitsAt(window, priced));
      return problem === undefined ? [] : [{ name: policy.name, window, problem: problem.message }];
    }),
  );
}

/** The session's own instructions, with what the preset adds to them and the tools of Holdfast's default agent: a recording seldom holds its tools. */
function agentView(session: LabSession, policy: CompactionPolicy): AgentView {
  const tools = createToolRegistry(createBuiltInTools({ environment: {}, secrets: [] })).schemasFor(DEFAULT_AGENT);
  return {
    instructions: session.instructionsAt(0) ?? DEFAULT_AGENT.instructions,
    rules: [],
    tools,
    ...definedOf({ runtimeAdvice: policy.runtimeNote?.text }),
    ...(policy.namedBlocks && { namedBlocks: true, device: SOME_DEVICE }),
  };
}

function groupReplays(replays: readonly Replay[]): [Replay, ...Replay[]][] {
  const groups = new Map<string, [Replay, ...Replay[]]>();
  for (const replay of replays) {
    const key = `${replay.agent.limits.window} ${replay.agent.policy.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [replay]);
    else group.push(replay);
  }
  return [...groups.values()];
}

function checkOptions({ windows, policies, facts }: LabOptions): void {
  const tooSmall = windows.find((window) => window < SMALLEST_WINDOW);
  if (tooSmall !== undefined) {
    throw new UsageError(
      'usage',
      `A window of ${tooSmall} tokens holds no agent.`,
      `Choose ${SMALLEST_WINDOW} tokens or more, for example 32k.`,
    );
  }
  if (facts < 1) throw new UsageError('usage', `${facts} facts say nothing.`, 'Ask for 5 or more.');
  if (policies.length === 0 || windows.length === 0) {
    throw new UsageError(
      'usage',
      'There is no preset or no window to replay under.',
      'Leave --preset and --window out for the default.',
    );
  }
}

function pricesFor(session: LabSession, { prices, configuration }: LabOptions): PricedAs {
  const own = session.models.flatMap((name) =>
    ['anthropic', 'openai'].map(
      (provider) => `${provider}/${name.replace(/(\d)\.(\d)$/, provider === 'anthropic' ? '$1-$2' : '$1.$2')}`,
    ),
  );
  const model = prices ?? own.find((name) => BUILT_IN_MODELS.has(name)) ?? FALLBACK_PRICES;
  const found = factsOf(configuration, model);
  if (!found.known) {
    throw new UsageError(
      'usage',
      `The prices of ${model} are not known.`,
      'Name a model of the catalogue with --prices, or give its window and prices under "models" in holdfast.yaml.',
    );
  }
  return { model, prices: found.prices, maximumOutput: found.limits.maximumOutput };
}

async function openSummarizers({ model, configuration }: LabOptions): Promise<Summarizers> {
  if (model !== null) {
    const { provider } = parseModelName(model);
    providerNamed(configuration, provider);
    const { limits, prices } = factsOf(configuration, model);
    const client = createModelClients(configuration.providers)(provider);
    return {
      forWindow: (_, priced) => ({ model, limits, prices, client, isAgentsOwn: model === priced.model }),
      close: async () => undefined,
    };
  }
  const simulator = await startSimulator();
  const clients = createModelClients([
    { name: 'simulator', protocol: 'anthropic', baseUrl: simulator.url, apiKey: null },
  ]);
  return {
    // The simulator bills nothing; its calls are priced as if the agent's own model had written the summary.
    forWindow(window, { prices }) {
      const name = `simulator/sim-${Math.floor(window / 1_024)}k`;
      return { model: name, limits: modelFacts(name).limits, prices, client: clients('simulator'), isAgentsOwn: true };
    },
    close: () => simulator.close(),
  };
}
