import { z } from 'zod';
import { definedOf } from '../context/policy/defined-of.ts';
import { readBranchPlaces } from '../store/conversations/branches.ts';
import { StoreError } from '../store/database/errors.ts';
import { deleteMemory, listMemoriesOf } from '../store/memory/memories.ts';
import type { StoredMemory } from '../store/memory/memories.ts';
import { countUnindexed, searchMemory } from '../store/memory/recall-search.ts';
import { embedBehind } from '../store/search/embeddings.ts';
import { listIndexable, reindexConversation } from '../store/search/index-conversation.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import { signal as abortSignal, text, work } from './arguments.ts';
import type { ClientContext } from './client-context.ts';
import { requireConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import type { FoundPassage, MemorySearch, Reindexed, ReindexOptions } from './types.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';

const MOST_MEMORIES = 500;

export const MEMORY_SHAPES = {
  search: z
    .object(ENDPOINTS['memory.search'].arguments)
    .refine(({ conversationId, agent }) => (conversationId === undefined) !== (agent === undefined), {
      error: 'must name a conversationId or an agent, and not both',
    }),
  reindex: { conversationId: text.optional(), signal: abortSignal.optional(), onProgress: work.optional() },
};

/** Finds what was said, and lists what agents remember. */
export class MemoryMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Ranked passages of a conversation, or of all conversations of an agent: messages, summaries, notes and tool results. Also finds what
   * compaction took out of the window.
   */
  async search(options: MemorySearch): Promise<FoundPassage[]> {
    const { database, tenant, meaning } = this.#context;
    if (options.conversationId !== undefined) await requireConversation(database, options.conversationId);
    const passages = await searchMemory(database, { ...options, tenant }, meaning);
    const places = await readBranchPlaces(
      database,
      passages.map(({ entryId }) => entryId),
    );
    const first = { branch: 0, onActiveBranch: true };
    return passages.map((passage) => Object.assign({}, passage, places.get(passage.entryId) ?? first));
  }

  /**
   * Memories in force of the client's tenant, newest first.
   * @param options.scope default: all
   * @param options.name of the agent or the user, or the path of the workspace. Default: all of the scope
   * @param options.all adds memories that were replaced or have expired. Default: false
   * @param options.before id of the last memory of the page before
   * @param options.limit at most 500. Default: 100
   */
  async list(
    options: {
      readonly scope?: 'agent' | 'user' | 'workspace';
      readonly name?: string;
      readonly all?: boolean;
      readonly before?: string;
      readonly limit?: number;
    } = {},
  ): Promise<Page<StoredMemory>> {
    const { database, tenant } = this.#context;
    const { limit: wanted = 100, before: beforeId, ...of } = options;
    const limit = Math.min(wanted, MOST_MEMORIES);
    const page = { ...of, ...definedOf({ beforeId }), tenant, limit: limit + 1 };
    return pageOf(await listMemoriesOf(database, page), limit);
  }

  /**
   * Deletes a memory and those that it had replaced, so that none of them is in force again.
   * @param options.memoryId as `memory.list` returns it
   * @throws HoldfastClientError `memory_not_found`
   */
  async forget(options: { readonly memoryId: string }): Promise<void> {
    const { database, tenant } = this.#context;
    if (await deleteMemory(database, { tenant, id: options.memoryId })) return;
    throw new HoldfastClientError('memory_not_found', `there is no memory "${options.memoryId}"`);
  }

  /**
   * Counts entries that no search finds yet, as after an import. Searches and upkeep index them.
   * @param options.conversationId of this conversation. Default: of all
   * @param options.agent of this agent. Default: of all
   */
  countUnindexed(options: { readonly conversationId?: string; readonly agent?: string }): Promise<number> {
    const { database, tenant } = this.#context;
    return countUnindexed(database, { ...options, tenant });
  }

  /** Builds the search index again. With an embedder it also makes missing vectors. */
  reindex(options: ReindexOptions): Promise<Reindexed> {
    return reindexConversations(this.#context, options);
  }
}

async function reindexConversations(
  { database, meaning }: ClientContext,
  { conversationId, signal, onProgress }: ReindexOptions,
): Promise<Reindexed> {
  if (conversationId !== undefined) await requireConversation(database, conversationId);
  const wanted = conversationId === undefined ? await listIndexable(database) : [conversationId];
  const done = { conversations: 0, passages: 0, embedded: 0 };
  for (const id of wanted) {
    if (signal?.aborted === true) break;
    const { passages, isWhole } = await reindexConversation(database, id, definedOf({ signal })).catch(
      (error: unknown) => {
        // One that was deleted since it was listed has nothing to index.
        const isGone = error instanceof StoreError && error.code === 'conversation_not_found';
        if (conversationId === undefined && isGone) return { passages: 0, isWhole: true };
        throw error;
      },
    );
    done.passages += passages;
    if (!isWhole) break;
    done.conversations += 1;
    onProgress?.({ conversationId: id, done: done.conversations, of: wanted.length, passages });
  }
  if (meaning === null) return { ...done, interrupted: done.conversations < wanted.length };
  const embedding = signal ?? new AbortController().signal;
  if (!embedding.aborted) done.embedded = await embedBehind(database, meaning.embedder, { signal: embedding });
  return { ...done, interrupted: embedding.aborted };
}
