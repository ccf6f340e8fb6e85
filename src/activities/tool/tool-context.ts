import { definedOf } from '../../context/policy/defined-of.ts';
import { idempotencyKeyOf } from '../../store/attempts/tool-call-rows.ts';
import type { ToolCallRow } from '../../store/attempts/tool-call-rows.ts';
import { readLeftBranches } from '../../store/conversations/branches.ts';
import { isConversationOfUser, readTenant } from '../../store/conversations/conversations.ts';
import type { Database } from '../../store/database/database.ts';
import { openEntry, openAround } from '../../store/log/open-entry.ts';
import { readNewestRequests } from '../../store/log/notes.ts';
import type { OpenRequest, OpenedText } from '../../store/log/open-entry.ts';
import { findSourceConversation } from '../../store/memory/memories.ts';
import type { MemoryScope } from '../../store/memory/memories.ts';
import { countUnindexed, searchedInPart, searchMemory } from '../../store/memory/recall-search.ts';
import { ownId } from '../../store/transfer/conversation-file.ts';
import { resultLimitFor } from '../../tools/runtime/compose-result.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import type { ToolMemory, ToolMemories } from '../../tools/tool.ts';
import type { RunToolInput } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { describeError, throughOutage } from '../runtime/failures.ts';
import { scopesOf, toolMemories } from '../turn/agent-memories.ts';

/** The tools that the turn's agent was offered, as this worker has them. */
export function offerOf({ tools, secrets }: ActivityDependencies, snapshot: AgentSnapshot) {
  const names = snapshot.tools.map((tool) => tool.name);
  return { secrets, offered: tools.offeredTo({ tools: names, allowCommands: snapshot.allowCommands }) };
}

/** The context of a tool, beside its signal and output. */
export function contextOf(
  dependencies: ActivityDependencies,
  call: RunToolInput & { readonly attempt: number; readonly owner: ToolCallRow['owner'] },
  snapshot: AgentSnapshot,
) {
  const { turn, attempt } = call;
  const { turnId, conversationId } = turn;
  return {
    conversationId,
    turnId,
    ...call.owner,
    attempt,
    workspace: snapshot.workspace,
    protectedPaths: dependencies.protectedPaths,
    idempotencyKey: idempotencyKeyOf(call),
    resultLimit: resultLimitFor(snapshot.modelLimits.window),
    memory: recallOf(dependencies, conversationId, snapshot.memory === undefined ? [] : scopesOf(snapshot)),
    memories: toolMemories(dependencies, { call, snapshot }),
  };
}

/**
 * What recall tools see: the conversation they run in, and the source entries of memories in others. They see the neighbours of such an
 * entry only in conversations of the same user, because a memory shares its content, not its conversation. Everyone who is shown the
 * memory may read the entry itself, to other users without secrets.
 * @param memoryScopes scopes whose memories the agent is shown
 */
export function recallOf(
  dependencies: Pick<ActivityDependencies, 'database' | 'embedder' | 'logger'>,
  conversationId: string,
  memoryScopes: readonly MemoryScope[] = [],
): ToolMemory {
  const { database, embedder, logger } = dependencies;
  const onFailure = (error: unknown): void =>
    logger.warn(describeError(error), 'a search went by words alone: its query could not be embedded');
  const meaning = embedder === null ? null : { embedder, onFailure };
  /** Reads an entry of this conversation, else of the one in which a memory was learned from it. */
  const find = async <Found extends object>(
    id: string,
    read: (at: EntryPlace) => Promise<Found | null>,
  ): Promise<(Found & { readonly conversationId?: string }) | null> => {
    const own = { conversationId, id, isOfOwnUser: true };
    // Texts of a conversation that was imported under ids of the tenant name its entries by the ids of the file.
    const found =
      (await read(own)) ?? (await read({ ...own, id: ownId(await readTenant(database, conversationId), id) }));
    if (found !== null) return found;
    const source = await findSourceConversation(database, { scopes: memoryScopes, sourceId: id });
    if (source === null) return null;
    const user = memoryScopes.find(({ scope }) => scope === 'user')?.scopeName;
    const isOfOwnUser = user !== undefined && (await isConversationOfUser(database, source, user));
    const behindMemory = await read({ conversationId: source, id, isOfOwnUser });
    return behindMemory && { ...behindMemory, conversationId: source };
  };
  return {
    async search(query, limit, filter = {}) {
      // The message that the turn answers is in view, and shares words with what the model asks for.
      const [request] = await readNewestRequests(database, conversationId, 1);
      const wanted = { ...filter, ...definedOf({ exceptEntryId: request?.id }) };
      return searchMemory(database, { ...wanted, conversationId, query, limit }, meaning);
    },
    searchedInPart: () => searchedInPart(database, conversationId),
    countUnindexed: () => countUnindexed(database, { conversationId }),
    async around(id, count) {
      const range = await find(id, async ({ isOfOwnUser, ...at }) => {
        const entries = isOfOwnUser ? await openAround(database, { ...at, count }) : ('of_another_user' as const);
        return entries && { entries };
      });
      if (range === null) return null;
      const { entries } = range;
      if (entries === 'of_another_user') return entries;
      const left = await readLeftBranches(database, [id, ...entries.map(({ entryId }) => entryId)]);
      return {
        ...range,
        ...definedOf({ branch: left.get(id) }),
        entries: entries.map((entry) => Object.assign({}, entry, definedOf({ branch: left.get(entry.entryId) }))),
      };
    },
    async open(id, offset, limit) {
      const page = await find(id, async ({ isOfOwnUser, ...at }) =>
        (isOfOwnUser ? openEntry : openWithoutSecrets)(database, { ...at, offset, limit }),
      );
      if (page === null) return null;
      return { ...page, ...definedOf({ branch: (await readLeftBranches(database, [id])).get(id) }) };
    },
  };
}

/** Where an entry is read. */
interface EntryPlace {
  readonly conversationId: string;
  readonly id: string;
  /** `false`: nothing of the conversation is shown but the entry, and that without secrets. */
  readonly isOfOwnUser: boolean;
}

/** Longer than any form of a secret. Characters. */
const AROUND_SECRETS = 20_000;

/**
 * Shows an entry to other users without secrets that were kept out of its memory. Masks character by character, so offsets are those of
 * the original. Reads around the page too, because half a secret has no form.
 */
async function openWithoutSecrets(database: Database, request: OpenRequest): Promise<OpenedText | null> {
  const { offset, limit } = request;
  const from = Math.max(0, offset - AROUND_SECRETS);
  const opened = await openEntry(database, { ...request, offset: from, limit: offset - from + limit + AROUND_SECRETS });
  if (opened === null) return null;
  const { removed } = await redactSecrets(opened.text);
  const masked = removed
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '*'.repeat(secret.length)), opened.text);
  // Redaction cannot look into images.
  return { ...opened, text: masked.slice(offset - from, offset - from + limit), media: [] };
}

interface MemoryContext {
  readonly memory: ToolMemory;
  readonly memories: ToolMemories | null;
  readonly signal: AbortSignal;
}

/** Reads and memories of a tool that wait for Postgres for as long as the call lasts. */
export function withPatientMemory<Context extends MemoryContext>(
  dependencies: Pick<ActivityDependencies, 'logger'>,
  context: Context,
): Context {
  const { memory, memories, signal } = context;
  const patient = <Methods extends object>(methods: Methods): Methods =>
    new Proxy(methods, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...asked: unknown[]): Promise<unknown> =>
          throughOutage(dependencies, { signal }, async () => Reflect.apply(method, target, asked));
      },
    });
  return { ...context, memory: patient(memory), memories: memories && patient(memories) };
}
