import type { ContentPart } from '../context/log/content.ts';
import type { BranchRow } from '../store/conversations/branches.ts';
import type { SentMessage } from './types.ts';

export type { BranchRow as Branch } from '../store/conversations/branches.ts';

/**
 * Branches of a conversation's entry tree. A change of branch is a turn with no step; on a conversation that is at work
 * it is refused as `conversation_busy`. `waitForOutcome` waits for it.
 */
export interface BranchCommands {
  listBranches(conversationId: string): Promise<BranchRow[]>;
  /** The branch that the conversation goes on with, without looking at the others. */
  getActiveBranch(conversationId: string): Promise<BranchRow>;
  /**
   * Begins a branch after an entry, inside a group after its end, and goes on with it.
   * @param options.entryId `null`: before the first entry
   * @param options.summarize whether what is left behind is summarized. Default: true
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`
   */
  fork(options: {
    readonly conversationId: string;
    readonly entryId: string | null;
    readonly summarize?: boolean;
    readonly messageId?: string;
  }): Promise<SentMessage>;
  /** Goes on with another branch. @throws HoldfastClientError `conversation_busy`, `branch_not_found` */
  switchBranch(options: {
    readonly conversationId: string;
    readonly branch: number;
    readonly summarize?: boolean;
    readonly messageId?: string;
  }): Promise<SentMessage>;
  /**
   * Asks for another answer: forks before a message of the user and sends it again as it was. When the fork is refused later,
   * the message is taken back and not answered; `waitForOutcome` then tells why.
   * @param options.entryId the user's entry. Default: the newest of the active branch
   * @param options.summarize whether what is left behind is summarized. Default: false
   * @returns the message that begins the turn
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`, `message_id_reused`
   */
  regenerate(options: {
    readonly conversationId: string;
    readonly entryId?: string;
    readonly summarize?: boolean;
    readonly messageId?: string;
  }): Promise<SentMessage>;
  /**
   * Says an earlier message in other words: forks before it and sends the new content in its place, or not at all, as
   * `regenerate` does.
   * @param options.entryId the user's entry
   * @param options.content a text takes the place of the words, and pictures and files of the message stay; parts take the place of all
   * @param options.summarize whether what is left behind is summarized. Default: false
   * @returns the message that begins the turn
   * @throws HoldfastClientError `conversation_busy`, `entry_not_found`, `message_id_reused`, `invalid_argument` (the content is empty)
   */
  edit(options: {
    readonly conversationId: string;
    readonly entryId: string;
    readonly content: string | readonly ContentPart[];
    readonly summarize?: boolean;
    readonly messageId?: string;
  }): Promise<SentMessage>;
}
