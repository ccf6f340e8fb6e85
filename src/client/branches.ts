import type { ContentPart } from '../context/log/content.ts';
import { listBranches, readActiveBranch, readSaidMessage } from '../store/conversations/branches.ts';
import type { Database } from '../store/database/database.ts';
import type { BranchCommands } from './branch-types.ts';
import { guarded } from './errors.ts';
import { inOtherWords, messageParts } from './message-parts.ts';
import type { SentMessage } from './types.ts';
import type { WaysToSend } from './ways-to-send.ts';

/** The commands of branches, over the client's own ways to send. */
export function branchCommands(
  database: Database,
  { changeBranch, sendOnNewBranch }: Pick<WaysToSend, 'changeBranch' | 'sendOnNewBranch'>,
): BranchCommands {
  const fork: BranchCommands['fork'] = ({ conversationId, entryId, summarize = true, messageId }) =>
    changeBranch({
      conversationId,
      kind: 'fork',
      target: { entryId, summarizes: summarize },
      ...(messageId !== undefined && { id: messageId }),
    });
  const resend = async (options: {
    readonly conversationId: string;
    readonly entryId?: string;
    readonly contentOf: (said: readonly ContentPart[]) => readonly ContentPart[];
    readonly summarize?: boolean;
    readonly messageId?: string;
  }): Promise<SentMessage> => {
    const { conversationId, entryId, contentOf, summarize = false, messageId } = options;
    const said = await guarded(() => readSaidMessage(database, conversationId, entryId ?? null));
    return sendOnNewBranch(
      { conversationId, kind: 'fork', target: { entryId: said.parentId, summarizes: summarize } },
      {
        conversationId,
        kind: 'message',
        mode: 'queue',
        content: contentOf(said.content),
        ...(messageId !== undefined && { id: messageId }),
      },
    );
  };
  return {
    listBranches: (id) => guarded(() => listBranches(database, id)),
    getActiveBranch: (id) => guarded(() => readActiveBranch(database, id)),
    fork,
    switchBranch: ({ conversationId, branch, summarize = true, messageId }) =>
      changeBranch({
        conversationId,
        kind: 'switch',
        target: { branch, summarizes: summarize },
        ...(messageId !== undefined && { id: messageId }),
      }),
    regenerate: (options) => resend({ ...options, contentOf: (said) => said }),
    edit: async ({ content, ...options }) => {
      const given = messageParts(content);
      const contentOf = (said: readonly ContentPart[]): readonly ContentPart[] =>
        typeof content === 'string' ? inOtherWords(said, content) : given;
      return resend({ ...options, contentOf });
    },
  };
}
