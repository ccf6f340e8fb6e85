import { describeError } from './activity-error.ts';
import { readBranchPlaces } from '../store/branches.ts';
import { openEntry } from '../store/entries.ts';
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
      const passages = await searchMemory(database, { conversationId, query, limit }, meaning);
      const ids = passages.map(({ entryId }) => entryId);
      const places = await readBranchPlaces(database, ids);
      return passages.map((passage) => {
        const place = places.get(passage.entryId);
        return place === undefined || place.onActiveBranch
          ? passage
          : Object.assign({}, passage, { branch: place.branch });
      });
    },
    around: (id, count) => openAround(database, { conversationId, id, count }),
    open: (id, offset, limit) => openEntry(database, { conversationId, id, offset, limit }),
  };
}
