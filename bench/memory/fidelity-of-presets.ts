import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_AGENT } from '../../src/config/default-agent.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import type { CompactionPolicy } from '../../src/context/policy.ts';
import { measureFidelity } from '../../src/lab/fidelity/measure-fidelity.ts';
import type { FidelityFigures, RecallOnce } from '../../src/lab/fidelity/measure-fidelity.ts';
import { plantedSession } from '../../src/lab/fidelity/planted-session.ts';
import { importSessions } from '../../src/lab/import-sessions.ts';
import { createLabAgent } from '../../src/lab/replay/lab-agent.ts';
import type { LabSummarizer } from '../../src/lab/replay/lab-agent.ts';
import { loadSessions } from '../../src/lab/session/lab-session.ts';
import { modelFacts } from '../../src/models/catalogue.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import type { Database } from '../../src/store/database.ts';
import { indexConversation, searchMemory } from '../../src/store/search.ts';
import { createBuiltInTools } from '../../src/tools/built-in-tools.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';

/** Tokens. */
const WINDOW = 32_000;
/** Passages that `recall_search` shows unless it is asked for more, and how many are looked through for those of the time. */
const SHOWN = 5;
const LOOKED_THROUGH = 50;
const NO_PRICES = { input: null, output: null, cacheRead: null, cacheWrite: null };

export interface FidelityOptions {
  readonly seed: number;
  /** Answers of the agent in the session, about. */
  readonly steps: number;
  readonly policies: readonly CompactionPolicy[];
  /** Compactions after which is asked. */
  readonly passes: readonly number[];
  readonly simulatorUrl: string;
  readonly onBegin: (name: string) => void;
}

/**
 * What an agent still knows after so many compactions: facts, rules, decisions, paths, updates and contradictions are planted in a long
 * generated session, which is replayed under each preset and stored in Postgres; then each is looked for in the view, and asked
 * of the product's own search in its own words.
 */
export async function measureFidelityOfPresets(sql: Database, options: FidelityOptions): Promise<FidelityFigures[]> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-fidelity-'));
  try {
    const { messages, plants, rules } = plantedSession(options.seed, options.steps);
    const file = join(directory, 'planted.jsonl');
    await writeFile(file, messages.map((message) => JSON.stringify(message)).join('\n'));
    const loaded = await loadSessions(file);
    try {
      const [session] = loaded.sessions;
      if (session === undefined) throw new Error('the planted session is empty');
      const recall = await openRecall(sql, file, session.entries.length);
      const summarizer = openSummarizer(options.simulatorUrl);
      const figures: FidelityFigures[] = [];
      for (const policy of options.policies) {
        options.onBegin(`memory under ${policy.name}`);
        const agent = agentFor(policy, rules, summarizer);
        const { passes, seed } = options;
        figures.push(...(await measureFidelity({ session, agent, plants, passes, recall, seed })));
      }
      return figures;
    } finally {
      loaded.close();
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The session in Postgres, searched as `recall_search` does; what was said later does not count. */
async function openRecall(sql: Database, file: string, entries: number): Promise<RecallOnce> {
  const { conversations } = await importSessions(sql, {
    file,
    configuration: loadConfiguration({ directory: tmpdir(), environment: {} }),
    agent: DEFAULT_AGENT.name,
    settings: { model: null, preset: null, workspace: null },
  });
  const [conversation] = conversations;
  if (conversation?.entries !== entries) throw new Error(`imported ${conversation?.entries} of ${entries} entries`);
  const { conversationId } = conversation;
  await indexConversation(sql, conversationId);
  return async (query, throughPosition) => {
    const passages = await searchMemory(sql, { conversationId, query, limit: LOOKED_THROUGH });
    return passages
      .filter(({ sequence }) => sequence !== null && sequence <= throughPosition + 1)
      .slice(0, SHOWN)
      .map(({ text }) => text);
  };
}

function openSummarizer(simulatorUrl: string): LabSummarizer {
  const model = `simulator/sim-${Math.floor(WINDOW / 1_024)}k`;
  const clients = createModelClients([
    { name: 'simulator', protocol: 'anthropic', baseUrl: simulatorUrl, apiKey: null },
  ]);
  return {
    model,
    limits: modelFacts(model).limits,
    prices: NO_PRICES,
    client: clients('simulator'),
    isAgentsOwn: false,
  };
}

function agentFor(policy: CompactionPolicy, rules: readonly string[], summarizer: LabSummarizer) {
  const tools = createToolRegistry(createBuiltInTools({ environment: {}, secrets: [] })).schemasFor(DEFAULT_AGENT);
  return createLabAgent({
    view: { instructions: DEFAULT_AGENT.instructions, rules, tools },
    policy,
    limits: { window: WINDOW, maximumOutput: 8_192 },
    prices: NO_PRICES,
    summarizer,
  });
}
