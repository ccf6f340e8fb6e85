import type { ContentPart } from '../context/log/content.ts';
import { listBranches, readActiveBranch, readSaidMessage } from '../store/conversations/branches.ts';
import type { BranchRow } from '../store/conversations/branches.ts';
import type { MessageContent, OfConversation, ToSend } from './arguments.ts';
import type { ClientContext } from './client-context.ts';
import { inOtherWords, messageParts } from './sending/message-parts.ts';
import type { SentMessage } from './types.ts';

interface ChangeOfBranch extends ToSend {
  /** Adds a summary of the entries that are left behind. */
  readonly summarize?: boolean;
}

/**
 * Branches of a conversation. A change of branch is a turn without a model call, and `conversation.outcome` waits for it. It is refused
 * as `conversation_busy` while a turn runs.
 */
export class BranchMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /** All branches of a conversation. */
  list(options: OfConversation): Promise<BranchRow[]> {
    return listBranches(this.#context.database, options.conversationId);
  }

  /** The branch that the next message continues. */
  active(options: OfConversation): Promise<BranchRow> {
    return readActiveBranch(this.#context.database, options.conversationId);
  }

  /**
   * Begins a branch after an entry and makes it the active one. An entry inside a group of tool calls means the end of the group.
   * @param options.entryId `null` begins before the first entry
   * @param options.summarize Default: true
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`
   */
  fork(options: ChangeOfBranch & { readonly entryId: string | null }): Promise<SentMessage> {
    const { conversationId, entryId, summarize = true } = options;
    return this.#context.sending.send({
      conversationId,
      kind: 'fork',
      target: { entryId, summarizes: summarize },
      ...idOf(options),
    });
  }

  /**
   * Makes another branch the active one.
   * @param options.branch its number, as `branches.list` returns it
   * @param options.summarize Default: true
   * @throws HoldfastClientError `conversation_busy`, `branch_not_found`
   */
  switch(options: ChangeOfBranch & { readonly branch: number }): Promise<SentMessage> {
    const { conversationId, branch, summarize = true } = options;
    return this.#context.sending.send({
      conversationId,
      kind: 'switch',
      target: { branch, summarizes: summarize },
      ...idOf(options),
    });
  }

  /**
   * Asks for another answer: forks before a message of the user and sends it again. If a worker refuses the fork later, the message is not
   * answered, and `conversation.outcome` says why.
   * @param options.entryId the entry of the message. Default: the newest of the active branch
   * @param options.summarize Default: false
   * @returns the message that begins the turn
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`, `message_id_reused`
   */
  regenerate(options: ChangeOfBranch & { readonly entryId?: string }): Promise<SentMessage> {
    return this.#resend(options, (said) => said);
  }

  /**
   * Replaces an earlier message: forks before it and sends the new content, as `regenerate` does.
   * @param options.entryId the entry of the message
   * @param options.content a text replaces the words and keeps images and files. A list of parts replaces everything
   * @param options.summarize Default: false
   * @returns the message that begins the turn
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`, `message_id_reused`, `invalid_argument` (the content is empty)
   */
  edit(options: ChangeOfBranch & { readonly entryId: string; readonly content: MessageContent }): Promise<SentMessage> {
    const given = messageParts(options.content);
    return this.#resend(options, (said) =>
      typeof options.content === 'string' ? inOtherWords(said, options.content) : given,
    );
  }

  async #resend(
    options: ChangeOfBranch & { readonly entryId?: string },
    contentOf: (said: readonly ContentPart[]) => readonly ContentPart[],
  ): Promise<SentMessage> {
    const { conversationId, entryId, summarize = false } = options;
    const said = await readSaidMessage(this.#context.database, conversationId, entryId ?? null);
    return this.#context.sending.sendOnNewBranch(
      { conversationId, kind: 'fork', target: { entryId: said.parentId, summarizes: summarize } },
      {
        conversationId,
        kind: 'message',
        mode: 'queue',
        content: contentOf(said.content),
        ...(said.output !== null && { output: said.output }),
        ...idOf(options),
      },
    );
  }
}

function idOf({ messageId }: ToSend): { readonly id?: string } {
  return messageId === undefined ? {} : { id: messageId };
}
