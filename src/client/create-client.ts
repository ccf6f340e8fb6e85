import type { Client } from '@temporalio/client';
import { definedOf } from '../context/policy/defined-of.ts';
import { connectDatabase } from '../store/database/database.ts';
import type { Database } from '../store/database/database.ts';
import { DEFAULT_TENANT } from '../store/conversations/conversations.ts';
import { readCosts } from '../store/conversations/costs.ts';
import { listLearnedWindows, listServedModels, storeServedModel } from '../store/providers/model-facts.ts';
import { endPause, listPauses } from '../store/providers/provider-pauses.ts';
import type { MessageInput } from '../store/messages/messages.ts';
import { readLineage } from '../store/compactions/lineage.ts';
import { createListeners } from '../store/database/listen.ts';
import type { Listeners } from '../store/database/listen.ts';
import { countUnindexed } from '../store/memory/recall-search.ts';
import type { MeaningSearch, TextEmbedder } from '../store/search/embedder.ts';
import { requireCurrentSchema } from '../store/database/migrate.ts';
import { requireNamespace } from '../store/database/temporal-namespace.ts';
import type { TemporalAddress } from '../temporal/connect.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../turn/task-queues.ts';
import { archiveOf } from './archive.ts';
import { checkArgument } from './check-arguments.ts';
import { checkedClient } from './checked-client.ts';
import { branchCommands } from './branches.ts';
import type { BranchCommands } from './branch-types.ts';
import {
  describeContext,
  describeConversation,
  describeConversations,
  knownConversation,
  requireConversation,
} from './conversation.ts';
import type { DecisionMethods } from './decision-types.ts';
import { deciders } from './decisions.ts';
import { findLostTurn } from './lost-turn.ts';
import { requireResumable } from './resume.ts';
import type { ConversationArchive } from './archive-types.ts';
import { createDoorbell } from './doorbell.ts';
import { messageParts } from './message-parts.ts';
import { clientError, guarded, HoldfastClientError } from './errors.ts';
import {
  findPassages,
  listConversationEntries,
  listStoredSummaries,
  openStoredEntry,
  reindexConversations,
} from './memory.ts';
import { describeEndedTurn, waitForEndedTurn } from './outcome.ts';
import { listPastCalls, rebuildView } from './past-view.ts';
import type { HoldfastClient, ServedCommand } from './types.ts';
import { watchConversation } from './watch.ts';
import { waysToSend } from './ways-to-send.ts';

export interface ClientOptions {
  /**
   * `postgres://user:password@host:port/database`, migrated by `holdfast migrate`. Default: `DATABASE_URL`, else what `holdfast.yaml` names,
   * else the local stack of `holdfast dev`, the last two here or in a folder above.
   */
  readonly databaseUrl?: string;
  /** Default: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE` and `TEMPORAL_API_KEY`, else found like the database. */
  readonly temporal?: TemporalAddress;
  /** Queue of the workers. Default: `HOLDFAST_TASK_QUEUE`, else `agent-turn`. */
  readonly taskQueue?: string;
  /**
   * Whose conversations it starts, lists and searches, and whose standing approvals it knows. No access control: an id leads to a
   * conversation of any tenant. Default: `default`.
   */
  readonly tenant?: string;
  /** Search by meaning beside search by words, as workers with `embeddings` in `holdfast.yaml` do. Default: words alone. */
  readonly embedder?: TextEmbedder;
  /** Told when a search went by words alone because its query could not be embedded. Default: nothing. */
  readonly onEmbeddingFailure?: (error: unknown) => void;
  /** Told of each doorbell that did not arrive; upkeep finds the row. Default: nothing. */
  readonly onDoorbellFailure?: (conversationId: string, error: unknown) => void;
}

/**
 * Opens a client. Connects to Temporal at the first doorbell, so reading works without it.
 * @throws HoldfastClientError `invalid_argument`, `database_unreachable`, `database_refused`, `database_schema`
 * @throws StackError `stack_not_started` when a server is neither given nor found; ConfigurationError for one that is written wrongly
 */
export async function createClient(options: ClientOptions = {}): Promise<HoldfastClient> {
  checkArgument('createClient', options);
  const servers = await serversOf(options);
  const database = openDatabase(servers.databaseUrl);
  try {
    await requireCurrentSchema(database);
  } catch (error) {
    await database.end({ timeout: 1 });
    throw clientError(error);
  }
  const temporal = lazyTemporal(database, servers.temporal);
  const { tenant = DEFAULT_TENANT } = options;
  const taskQueue = options.taskQueue ?? process.env['HOLDFAST_TASK_QUEUE'] ?? DEFAULT_TURN_TASK_QUEUE;
  const doorbell = createDoorbell({ database, temporal, taskQueue }, options.onDoorbellFailure ?? (() => undefined));
  const listeners = createListeners(database);
  return checkedClient({
    ...senders(database, { temporal, doorbell, owner: { tenant, taskQueue } }),
    ...readers(database, listeners, { meaning: meaningOf(options), tenant }),
    ...deciders(database, doorbell, tenant),
    ...archiveOf(database, tenant),
    isTurnLost: (conversationId) =>
      guarded(async () => (await findLostTurn(database, temporal, conversationId)) !== null),
    watch: (watched) => watchConversation(database, listeners, watched),
    async close() {
      await doorbell.settle();
      await listeners.close();
      await database.end({ timeout: 1 });
      await temporal.close();
    },
  });
}

async function serversOf({
  databaseUrl,
  temporal,
}: ClientOptions): Promise<{ readonly databaseUrl: string; readonly temporal: TemporalAddress }> {
  if (databaseUrl !== undefined && temporal !== undefined) return { databaseUrl, temporal };
  // Loaded late: an application that names its servers does without the local stack.
  const { findServers } = await import('../local/find-servers.ts');
  const { TEMPORAL_API_KEY: apiKey } = process.env;
  const named = definedOf({ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal?.address });
  const { problem, ...found } = findServers({ environment: { ...process.env, ...named } });
  if (problem !== null) throw problem;
  const { temporalAddress: address, temporalNamespace: namespace } = found;
  return {
    databaseUrl: found.databaseUrl,
    temporal: temporal ?? { address, namespace, ...(apiKey !== undefined && { apiKey }) },
  };
}

/** @throws HoldfastClientError `invalid_argument` for an address that cannot be read */
function openDatabase(url: string): Database {
  try {
    return connectDatabase({ url, applicationName: 'holdfast-client' });
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    throw new HoldfastClientError('invalid_argument', `createClient: databaseUrl is refused: ${message}`);
  }
}

function meaningOf({ embedder, onEmbeddingFailure: onFailure }: ClientOptions): MeaningSearch | null {
  return embedder === undefined ? null : { embedder, ...(onFailure !== undefined && { onFailure }) };
}

/** A connection that is made when it is first asked for, and again after it could not be made. */
function lazyTemporal(database: Database, address: TemporalAddress) {
  let connecting: Promise<Client> | null = null;
  let connected: Client | null = null;
  let isNameRight = false;
  let closed = false;
  // Loaded late: reading needs no Temporal, and loading its client takes longer than most reads.
  const load = () => import('../temporal/connect.ts');
  const connect = async (): Promise<Client> => {
    try {
      const { connectClient, describeNamespace } = await load();
      connected = await connectClient(address);
      if (closed) await connected.connection.close();
      else await requireNamespace(database, await describeNamespace(connected));
      return connected;
    } catch (error) {
      connecting = null;
      throw error;
    }
  };
  return {
    client: (): Promise<Client> => (connecting ??= connect()),
    async requireName(): Promise<void> {
      if (!isNameRight) await requireNamespace(database, { name: address.namespace });
      isNameRight = true;
    },
    load,
    /** Does not wait for a connection that is still being made: it is closed once it is there. */
    async close(): Promise<void> {
      closed = true;
      await connected?.connection.close();
    },
  };
}

function senders(
  database: Database,
  sending: Parameters<typeof waysToSend>[1],
): Pick<HoldfastClient, 'startTask' | 'sendMessage' | 'stop' | 'requestCompaction' | 'resume' | keyof BranchCommands> {
  const { start, send, changeBranch, sendOnNewBranch } = waysToSend(database, sending);
  const command = async (kind: 'stop' | 'compact', conversationId: string, rest: Partial<MessageInput>) => {
    await guarded(() => describeConversation(database, conversationId));
    return send({ conversationId, kind, ...rest });
  };
  return {
    ...branchCommands(database, { changeBranch, sendOnNewBranch }),
    startTask: async ({ task, agent, model, preset, workspace, user, startKey }) =>
      start({
        mode: 'queue',
        agent: agent ?? 'default',
        settings: { model: model ?? null, preset: preset ?? null, workspace: workspace ?? null, user: user ?? null },
        content: messageParts(task),
        ...(startKey !== undefined && { startKey }),
      }),
    async sendMessage({ conversationId, content, mode, messageId }) {
      await guarded(() => describeConversation(database, conversationId));
      return send({
        conversationId,
        kind: 'message',
        mode: mode ?? 'steer',
        content: messageParts(content),
        ...(messageId !== undefined && { id: messageId }),
      });
    },
    stop: ({ conversationId, messageId }) =>
      command('stop', conversationId, messageId === undefined ? {} : { id: messageId }),
    async resume({ conversationId, raise = {}, messageId }) {
      const judged = await guarded(() =>
        requireResumable(database, sending.temporal, { conversationId, raise, messageId }),
      );
      return send({
        conversationId,
        kind: 'resume',
        raise,
        ...judged,
        ...(messageId !== undefined && { id: messageId }),
      });
    },
    requestCompaction: ({ conversationId, focus, messageId }) =>
      command('compact', conversationId, {
        ...(focus !== undefined && { focus }),
        ...(messageId !== undefined && { id: messageId }),
      }),
  };
}

const SERVED_COMMAND: ServedCommand = {
  turnId: null,
  state: 'served',
  outcome: 'nothing_to_do',
  reason: null,
  explanation: 'The command had nothing to act on: no turn was running, or the task was done.',
  text: '',
};

type Readers = Omit<
  HoldfastClient,
  | keyof ConversationArchive
  | keyof ReturnType<typeof senders>
  | keyof DecisionMethods
  | 'isTurnLost'
  | 'watch'
  | 'close'
>;

function readers(
  database: Database,
  listeners: Listeners,
  { meaning, tenant }: { readonly meaning: MeaningSearch | null; readonly tenant: string },
): Readers {
  return {
    getConversation: (id) => guarded(() => describeConversation(database, id)),
    listCosts: ({ since, ...of }) =>
      guarded(async () => {
        if (of.conversationId !== undefined) await requireConversation(database, of.conversationId);
        return readCosts(database, { ...of, tenant, since: since ?? null });
      }),
    listServedModels: () => guarded(() => listServedModels(database)),
    listProviderPauses: () => guarded(() => listPauses(database)),
    endProviderPause: ({ provider }) => guarded(() => endPause(database, provider)),
    storeServedModel: (served) => guarded(() => storeServedModel(database, served)),
    listLearnedWindows: ({ days }) => guarded(() => listLearnedWindows(database, days)),
    listConversations: ({ limit, before } = {}) =>
      guarded(() => describeConversations(database, { tenant, ...definedOf({ limit, beforeId: before }) })),
    listEntries: (options) => guarded(() => listConversationEntries(database, options)),
    listSummaries: (options) => guarded(() => listStoredSummaries(database, options)),
    readLineage: (conversationId) =>
      guarded(async () => knownConversation(database, conversationId, await readLineage(database, conversationId))),
    searchMemory: (options) => guarded(() => findPassages(database, { ...options, tenant }, meaning)),
    countUnindexed: (options) => guarded(() => countUnindexed(database, { ...options, tenant })),
    reindex: (options) => guarded(() => reindexConversations(database, options, meaning)),
    openEntry: (id) => guarded(() => openStoredEntry(database, id)),
    getContext: (id) => guarded(() => describeContext(database, id)),
    getView: (options) => guarded(() => rebuildView(database, options)),
    listModelCalls: (options) => guarded(() => listPastCalls(database, options)),
    waitForOutcome: (options) =>
      guarded(async () => {
        const ended = await waitForEndedTurn(database, listeners, options);
        return ended === 'served' ? SERVED_COMMAND : describeEndedTurn(database, ended);
      }),
  };
}
