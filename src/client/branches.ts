import type { ContentPart } from '../context/content.ts';
import { listBranches, readSaidMessage } from '../store/branches.ts';
import type { Database } from '../store/database.ts';
import type { MessageInput } from '../store/messages.ts';
import type { BranchCommands } from './branch-types.ts';
import { messageParts } from './message-parts.ts';
import type { SentMessage } from './types.ts';

type Send = (message: Pick<MessageInput, 'conversationId' | 'kind'> & Partial<MessageInput>) => Promise<SentMessage>;

/** The commands of branches, over the client's own way to send and to tell errors. */
export function branchCommands(
  database: Database,
  {
    send,
    guarded,
  }: {
    readonly send: Send;
    readonly guarded: <Result>(work: () => Promise<Result>) => Promise<Result>;
  },
): BranchCommands {
  const fork: BranchCommands['fork'] = ({ conversationId, entryId, summarize = true, messageId }) =>
    send({
      conversationId,
      kind: 'fork',
      target: { entryId, summarizes: summarize },
      ...(messageId !== undefined && { id: messageId }),
    });
  const resend = async (options: {
    readonly conversationId: string;
    readonly entryId?: string;
    /** `null`: as it was. */
    readonly content: readonly ContentPart[] | null;
    readonly summarize?: boolean;
  }): Promise<SentMessage> => {
    const { conversationId, entryId, content, summarize = false } = options;
    const said = await guarded(() => readSaidMessage(database, conversationId, entryId ?? null));
    await fork({ conversationId, entryId: said.parentId, summarize });
    return send({ conversationId, kind: 'message', mode: 'queue', content: content ?? said.content });
  };
  return {
    listBranches: (id) => guarded(() => listBranches(database, id)),
    fork,
    switchBranch: ({ conversationId, branch, summarize = true, messageId }) =>
      send({
        conversationId,
        kind: 'switch',
        target: { branch, summarizes: summarize },
        ...(messageId !== undefined && { id: messageId }),
      }),
    regenerate: (options) => resend({ ...options, content: null }),
    edit: async ({ content, ...options }) => resend({ ...options, content: messageParts(content) }),
  };
}
