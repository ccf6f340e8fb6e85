import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import { DEFAULT_AGENT } from '../../../src/config/default-agent.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { remark } from '../../command-line.ts';
import { measureFidelity } from '../fidelity/measure-fidelity.ts';
import type { FidelityFigures, RecallOnce, StoredUntil } from '../fidelity/measure-fidelity.ts';
import { plantedSession } from '../fidelity/planted-session.ts';
import { importSessions } from '../../../src/import/import-sessions.ts';
import { createLabAgent } from '../../../packages/lab/src/replay/lab-agent.ts';
import type { LabSummarizer } from '../../../packages/lab/src/replay/lab-agent.ts';
import { loadSessions } from '../../../packages/lab/src/session/lab-session.ts';
import { modelFacts } from '../../../src/models/catalogue/catalogue.ts';
import { createModelClients } from '../../../src/models/model-clients.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation } from '../../../src/store/memory/recall-search.ts';
import { createBuiltInTools } from '../../../src/tools/builtin/built-in-tools.ts';
import { recallSearch } from '../../../src/tools/builtin/recall-search.ts';
import { createToolRegistry } from '../../../src/tools/runtime/registry.ts';
import { resultLimitFor } from '../../../src/tools/runtime/compose-result.ts';
import type { ToolContext } from '../../../src/tools/tool.ts';

/** Tokens. */
const WINDOW = 32_000;
const NO_PRICES = { input: null, output: null, cacheRead: null, cacheWrite: null };

/** What the agent is asked then: recall gives no place to the message that a turn answers, which here must hold nothing. */
const ASKING = [
  { role: 'user', content: 'Go on.' },
  { role: 'assistant', content: 'I look it up.' },
].map((message) => JSON.stringify(message));

export interface FidelityOptions {
  readonly seed: number;
  /** Answers of the agent in the session, about. */
  readonly steps: number;
  readonly policies: readonly CompactionPolicy[];
  /** Compactions after which is asked. */
  readonly passes: readonly number[];
  readonly simulatorUrl: string;
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
    const lines = messages.map((message) => JSON.stringify(message));
    const whole = join(directory, 'planted.jsonl');
    const file = join(directory, 'until.jsonl');
    await writeFile(whole, lines.join('\n'));
    const loaded = await loadSessions(whole);
    try {
      const [session] = loaded.sessions;
      if (session === undefined) throw new Error('the planted session is empty');
      const openRecall = async (stored: StoredUntil): Promise<RecallOnce> => {
        // One line for each message, and one more, for the importer may leave out a last one that nothing follows.
        await writeFile(file, [...lines.slice(0, stored.through + 2), ...ASKING].join('\n'));
        return storeAndSearch(sql, file, stored);
      };
      const summarizer = openSummarizer(options.simulatorUrl);
      const figures: FidelityFigures[] = [];
      for (const policy of options.policies) {
        remark(`memory under ${policy.name}`);
        const agent = agentFor(policy, rules, summarizer);
        const { passes, seed } = options;
        figures.push(...(await measureFidelity({ database: sql, session, agent, plants, passes, openRecall, seed })));
      }
      return figures;
    } finally {
      loaded.close();
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The session up to a compaction in Postgres, with the summaries until then, asked by the tool as the agent is shown it. */
async function storeAndSearch(sql: Database, file: string, { through, summaries }: StoredUntil): Promise<RecallOnce> {
  const { conversations } = await importSessions(sql, {
    file,
    configuration: loadConfiguration({ directory: tmpdir(), environment: {} }),
    agent: DEFAULT_AGENT.name,
    settings: { model: null, preset: null, workspace: null, user: null },
  });
  const [conversation] = conversations;
  if (conversation === undefined || conversation.entries <= through)
    throw new Error(`imported ${conversation?.entries ?? 0} of ${through + 1} entries`);
  const { conversationId } = conversation;
  await storeSummaries(sql, conversationId, summaries);
  await indexConversation(sql, conversationId);
  const memory = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, conversationId);
  const context: ToolContext = {
    conversationId,
    turnId: conversationId,
    tenant: 'default',
    user: null,
    workspace: tmpdir(),
    idempotencyKey: conversationId,
    attempt: 1,
    requireClaim: () => Promise.resolve(),
    signal: new AbortController().signal,
    resultLimit: resultLimitFor(WINDOW),
    output: { write: () => Promise.resolve(), bytes: 0 },
    memory,
    protectedPaths: [],
    memories: null,
  };
  return async (query) => {
    const { content } = await recallSearch.run({ query }, context);
    return typeof content === 'string' ? content.split(PASSAGE_HEAD) : [];
  };
}

/** As `recall_search` sets one passage off from the next. */
const PASSAGE_HEAD = /\n\n(?=entry [0-9a-f-]{36} · )/u;

/** As commits of compactions leave them, with triggers and foreign keys off: the replay has judged them already. */
async function storeSummaries(sql: Database, conversationId: string, summaries: readonly string[]): Promise<void> {
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      insert into compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, plan, head_entry_id,
        first_kept_sequence, covered_through_sequence, tokens_before, tokens_after, status, number,
        marker_entry_id, summary, summary_measurements, view_after, finished_at)
      select gen_random_uuid(), c.id, e.turn_id, 1, 1, 'threshold', 'bench', 'summary', '{"keptSequences": []}', e.id, 2, 1, 2, 1, 'committed', n,
        e.id, to_json(s), no_measurements(), no_measurements(), now()
      from unnest(${[...summaries]}::text[]) with ordinality as given (s, n)
      join conversations c on c.id = ${conversationId} join entries e on e.id = c.head_entry_id`;
    await open`update conversations set compactions = ${summaries.length} where id = ${conversationId}`;
  });
}

export function openSummarizer(simulatorUrl: string): LabSummarizer {
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

export function agentFor(policy: CompactionPolicy, rules: readonly string[], summarizer: LabSummarizer) {
  const tools = createToolRegistry(createBuiltInTools({ environment: {}, secrets: [] })).schemasFor(DEFAULT_AGENT);
  return createLabAgent({
    view: { instructions: DEFAULT_AGENT.instructions, rules, tools },
    policy,
    limits: { window: WINDOW, maximumOutput: 8_192 },
    prices: NO_PRICES,
    summarizer,
  });
}
