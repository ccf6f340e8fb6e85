import { factsOf, selectAgent } from '../config/configuration.ts';
import type { Configuration } from '../config/configuration.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { fixedMeasurements } from '../context/view/system-text.ts';
import { measureContent } from '../context/log/measure.ts';
import type { TurnSnapshot } from '../store/turns/new-turn.ts';
import type { Database } from '../store/database/database.ts';
import { newId } from '../store/database/ids.ts';
import { importConversation } from '../store/transfer/import-conversation.ts';
import type { ImportedRecord } from '../store/transfer/import-conversation.ts';
import type { ConversationSettings } from '../store/messages/messages.ts';
import { createBuiltInTools } from '../tools/builtin/built-in-tools.ts';
import { createToolRegistry } from '../tools/runtime/registry.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { ImportReport } from './read/import-report.ts';
import { readSessionFile } from './read/session-file.ts';
import { SessionAssembler } from './assemble-session.ts';
import type { LogRecord } from './assemble-session.ts';

export interface ImportedSession {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
}

export interface ImportedFile {
  readonly conversations: readonly ImportedSession[];
  readonly report: ImportReport;
}

export interface ImportSessionsRequest {
  readonly file: string;
  readonly configuration: Configuration;
  /** Queue of the workers that go on with the conversations. Default: `agent-turn`. */
  readonly taskQueue?: string;
  /** Name of the agent that goes on with the conversations. */
  readonly agent: string;
  readonly settings: ConversationSettings;
}

/**
 * Makes a conversation of every session of a file, one after another, each whole or not at all.
 * @throws SessionFileError for the file, ConfigurationError for agent, model or preset
 */
export async function importSessions(database: Database, request: ImportSessionsRequest): Promise<ImportedFile> {
  const { agent, settings } = request;
  const snapshot = snapshotOf(request);
  const { records, counter, report } = await readSessionFile(request.file);
  const assembler = new SessionAssembler((problem) => counter.problem(problem));
  const conversations: ImportedSession[] = [];
  for (const session of sessionsOf([...records.flatMap((record) => assembler.add(record)), ...assembler.end()])) {
    const conversationId = newId();
    const imported = await importConversation(database, {
      conversationId,
      ...definedOf({ taskQueue: request.taskQueue }),
      agent,
      settings,
      snapshot,
      records: session,
    });
    conversations.push({ conversationId, ...imported });
  }
  return { conversations, report: report() };
}

/** The entries of each session that has any. Instructions are the agent's, and a compaction leaves nothing behind. */
function sessionsOf(log: readonly LogRecord[]): readonly (readonly ImportedRecord[])[] {
  const sessions: ImportedRecord[][] = [[]];
  for (const record of log) {
    if (record.kind === 'session') sessions.push([]);
    else if (record.kind !== 'instructions' && record.kind !== 'compacted') sessions.at(-1)?.push(record);
  }
  return sessions.filter(({ length }) => length > 0);
}

/** The agent as it is configured, with the tools that Holdfast brings: those of a worker are not known here. */
function snapshotOf({ configuration, agent: name, settings }: ImportSessionsRequest): TurnSnapshot {
  const agent = selectAgent(configuration, name, settings);
  const registry = createToolRegistry(createBuiltInTools({ environment: {}, secrets: [] }));
  const tools = agent.tools.filter((tool) => registry.get(tool) !== undefined);
  const summarizer = agent.policy.summary.model ?? agent.model;
  const facts = factsOf(configuration, agent.model);
  const ofSummarizer = factsOf(configuration, summarizer);
  const snapshot: AgentSnapshot = {
    agent: agent.name,
    instructions: agent.instructions,
    rules: agent.rules,
    tools: registry.schemasFor({ ...agent, tools }),
    model: agent.model,
    modelLimits: facts.limits,
    prices: facts.prices,
    summarizer: { model: summarizer, limits: ofSummarizer.limits, prices: ofSummarizer.prices },
    policy: agent.policy,
    limits: agent.limits,
    workspace: agent.workspace,
    allowCommands: agent.allowCommands,
  };
  const rules = agent.rules.join('\n');
  const content = [{ type: 'text' as const, text: rules }];
  return {
    snapshot,
    fixed: fixedMeasurements(snapshot),
    rules: rules === '' ? null : { content, measurements: measureContent(content) },
  };
}
