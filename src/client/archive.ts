import { exportConversation } from '../store/conversation-file/export-conversation.ts';
import { importExportedConversation } from '../store/conversation-file/import-exported.ts';
import type { Database } from '../store/database.ts';
import { deleteConversation } from '../store/delete-conversation.ts';
import { listEntriesAround } from '../store/entries.ts';
import type { ConversationArchive } from './archive-types.ts';
import { clientError } from './errors.ts';
import { withLateResults } from './memory.ts';

export function archiveOf(database: Database): ConversationArchive {
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw clientError(error);
    }
  };
  return {
    exportConversation: ({ conversationId, write }) =>
      guarded(() => exportConversation(database, conversationId, write)),
    importConversation: ({ lines }) => guarded(() => importExportedConversation(database, lines)),
    deleteConversation: (id) => guarded(() => deleteConversation(database, id)),
    listEntriesAround: ({ entryId, count }) =>
      guarded(async () => withLateResults(database, await listEntriesAround(database, entryId, count))),
  };
}
