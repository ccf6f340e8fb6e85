import type { ContentPart } from '../context/content.ts';
import { listBranches, readSaidMessage } from '../store/branches.ts';
import type { Database } from '../store/database.ts';
import type { MessageInput } from '../store/messages.ts';
import type { BranchCommands } from './branch-types.ts';
import { inOtherWords, messageParts } from './message-parts.ts';
import type { SentMessage } from './types.ts';

type Unsent = Pick<MessageInput, 'conversationId' | 'kind'> & Partial<MessageInput>;
type Send = (command: Unsent) => Promise<SentMessage>;

/** The commands of branches, over the client's own ways to send and to tell errors. */
export function branchCommands(
  database: Database,
  {
    changeBranch,
    sendOnNewBranch,
    guarded,
  }: {
    /** Sends a fork or a switch. */
    readonly changeBranch: Send;
    /** Sends a fork and the message behind it. */
    readonly sendOnNewBranch: (fork: Unsent, message: Unsent) => Promise<SentMessage>;
    readonly guarded: <Result>(work: () => Promise<Result>) => Promise<Result>;
  },
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
