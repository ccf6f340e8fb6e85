import { readBranchPlaces } from '../store/branches.ts';
import { openEntry } from '../store/entries.ts';
import { openAround } from '../store/open-around.ts';
import { searchMemory } from '../store/search.ts';
import type { ToolMemory } from '../tools/tool.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** What recall tools see: the conversation they run in. */
export function recallOf({ database }: ActivityDependencies, conversationId: string): ToolMemory {
  return {
    async search(query, limit) {
      const passages = await searchMemory(database, { conversationId, query, limit });
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
