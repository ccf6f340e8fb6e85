import { exportConversation } from '../store/transfer/export-conversation.ts';
import { importExportedConversation } from '../store/transfer/import-exported.ts';
import type { ImportExportedRequest } from '../store/transfer/file-importer.ts';
import type { Database } from '../store/database/database.ts';
import { deleteConversation } from '../store/conversations/delete-conversation.ts';
import { countEntries, findEntryId, listEntriesAround } from '../store/log/entries.ts';
import { turnWorkflowId } from '../turn/workflow-id.ts';
import type { ConversationArchive, ImportConversationOptions } from './archive-types.ts';
import { requireConversation } from './conversation.ts';
import { clientError, guarded, HoldfastClientError } from './errors.ts';
import { withLateResults } from './memory.ts';

export function archiveOf(database: Database, tenant: string): ConversationArchive {
  return {
    async exportConversation({ conversationId, write }) {
      // What the caller's own function throws is the caller's: a full disk is no silent Postgres.
      const failures: unknown[] = [];
      const writeOrKeep: typeof write = async (line) => {
        try {
          await write(line);
        } catch (error) {
          failures.push(error);
          throw error;
        }
      };
      try {
        await exportConversation(database, conversationId, writeOrKeep);
      } catch (error) {
        throw failures.length > 0 ? failures[0] : clientError(error);
      }
    },
    importConversation: (options) =>
      guarded(() => importExportedConversation(database, { ...importRequest(options), tenant })),
    deleteConversation: (id) =>
      guarded(async () => {
        const { runs, isRungFor } = await deleteConversation(database, id);
        const workflowId = turnWorkflowId(id);
        const isNamed = runs.some((run) => run.workflowId === workflowId);
        return isNamed || !isRungFor ? runs : [...runs, { workflowId, runId: null }];
      }),
    listEntriesAround: ({ entryId, count }) =>
      guarded(async () => withLateResults(database, await listEntriesAround(database, entryId, count))),
    findEntryId: ({ conversationId, sequence }) =>
      guarded(async () => {
        const id = await findEntryId(database, conversationId, sequence);
        if (id !== null) return id;
        await requireConversation(database, conversationId);
        throw new HoldfastClientError('entry_not_found', `conversation ${conversationId} has no entry ${sequence}`, {
          advice: `'holdfast show ${conversationId}' lists those of the active branch with their numbers`,
        });
      }),
    countEntries: ({ conversationId, beforeSequence }) =>
      guarded(async () => {
        const count = await countEntries(database, {
          conversationId,
          ...(beforeSequence !== undefined && { before: beforeSequence }),
        });
        if (count === 0) await requireConversation(database, conversationId);
        return count;
      }),
  };
}

/** A file says nothing of what its conversation is to be here. */
function importRequest({
  lines,
  agent = 'default',
  model,
  preset,
  workspace,
  user,
  memoriesOf,
}: ImportConversationOptions): Omit<ImportExportedRequest, 'tenant'> {
  return {
    lines,
    agent,
    settings: { model: model ?? null, preset: preset ?? null, workspace: workspace ?? null, user: user ?? null },
    memoryScopes: {
      agent,
      workspace: workspace ?? memoriesOf?.workspace ?? null,
      user: user ?? memoriesOf?.user ?? null,
    },
  };
}
