import { factsOf, selectAgent } from '../config/configuration.ts';
import type { Configuration } from '../config/configuration.ts';
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
import { openSessionFile } from './read/session-file.ts';
import type { SessionFile } from './read/session-file.ts';
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
  const opened = await openSessionFile(request.file);
  const conversations: ImportedSession[] = [];
  const log = logOf(opened);
  for (let next = await firstEntry(log); next !== null;) {
    const conversationId = newId();
    const session = new OneSession(next, log);
    const imported = await importConversation(database, {
      conversationId,
      ...(request.taskQueue !== undefined && { taskQueue: request.taskQueue }),
      agent,
      settings,
      snapshot,
      records: session.records(),
    });
    conversations.push({ conversationId, ...imported });
    next = session.hasEnded ? null : await firstEntry(log);
  }
  return { conversations, report: opened.report() };
}

async function* logOf(opened: SessionFile): AsyncGenerator<LogRecord> {
  const assembler = new SessionAssembler((problem) => opened.counter.problem(problem));
  for await (const record of opened.records()) yield* assembler.add(record);
  yield* assembler.end();
}

/** The next record that is an entry, whatever session it is of; `null` at the end. */
async function firstEntry(log: AsyncGenerator<LogRecord>): Promise<ImportedRecord | null> {
  for (;;) {
    const next = await log.next();
    if (next.done === true) return null;
    const entry = entryOf(next.value);
    if (entry !== null) return entry;
  }
}

/** `null` for a record that is no entry: instructions are the agent's, and a compaction leaves nothing behind. */
function entryOf(record: LogRecord): ImportedRecord | null {
  switch (record.kind) {
    case 'user':
    case 'assistant':
    case 'tool_result':
      return record;
    case 'session':
    case 'instructions':
    case 'compacted':
      return null;
  }
}

/** The entries up to the beginning of the next session. */
class OneSession {
  hasEnded = false;
  private readonly first: ImportedRecord;
  private readonly log: AsyncGenerator<LogRecord>;

  constructor(first: ImportedRecord, log: AsyncGenerator<LogRecord>) {
    this.first = first;
    this.log = log;
  }

  async *records(): AsyncGenerator<ImportedRecord> {
    yield this.first;
    for (;;) {
      const next = await this.log.next();
      if (next.done === true) {
        this.hasEnded = true;
        return;
      }
      if (next.value.kind === 'session') return;
      const entry = entryOf(next.value);
      if (entry !== null) yield entry;
    }
  }
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
