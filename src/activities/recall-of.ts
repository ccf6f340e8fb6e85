import { describeError } from './activity-error.ts';
import { definedOf } from '../context/defined-of.ts';
import { readLeftBranches } from '../store/branches.ts';
import { openEntry } from '../store/entries.ts';
import { readNewestRequestId } from '../store/notes.ts';
import { openAround } from '../store/open-around.ts';
import { searchMemory } from '../store/search.ts';
import type { ToolMemory } from '../tools/tool.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** What recall tools see: the conversation they run in. */
export function recallOf(dependencies: ActivityDependencies, conversationId: string): ToolMemory {
  const { database, embedder, logger } = dependencies;
  const onFailure = (error: unknown): void =>
    logger.warn(describeError(error), 'a search went by words alone: its query could not be embedded');
  const meaning = embedder === null ? null : { embedder, onFailure };
  return {
    async search(query, limit) {
      // What the turn answers is in view, and has the words of what the model asks for.
      const newest = await readNewestRequestId(database, conversationId);
      return searchMemory(
        database,
        { conversationId, query, limit, ...(newest !== null && { exceptEntryId: newest }) },
        meaning,
      );
    },
    async around(id, count) {
      const entries = await openAround(database, { conversationId, id, count });
      if (entries === null) return null;
      const left = await readLeftBranches(database, [id, ...entries.map(({ entryId }) => entryId)]);
      return {
        ...definedOf({ branch: left.get(id) }),
        entries: entries.map((entry) => Object.assign({}, entry, definedOf({ branch: left.get(entry.entryId) }))),
      };
    },
    async open(id, offset, limit) {
      const page = await openEntry(database, { conversationId, id, offset, limit });
      if (page === null) return null;
      return { ...page, ...definedOf({ branch: (await readLeftBranches(database, [id])).get(id) }) };
    },
  };
}
