import { definedOf } from '../context/policy/defined-of.ts';
import { readLineage } from '../store/compactions/summaries.ts';
import type { CompactionLineage } from '../store/compactions/summaries.ts';
import { countEntries, findEntryId, listEntriesAround } from '../store/log/entries.ts';
import { listNewestEvents } from '../store/log/events.ts';
import type { OfConversation } from './arguments.ts';
import type { ClientContext } from './client-context.ts';
import { describeContext, knownConversation, requireConversation } from './conversation.ts';
import { listConversationEntries, openStoredEntry, withLateResults } from './entries.ts';
import type { EntryRange } from './entries.ts';
import { HoldfastClientError } from './errors.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import { listPastCalls, rebuildView } from './past-view.ts';
import { listStoredSummaries } from './summaries.ts';
import type {
  ContextReport,
  ListedEntry,
  ModelCallAddress,
  OpenedEntry,
  PastCall,
  PastView,
  StoredSummary,
  SummaryAudit,
  SummaryDifference,
  TimelineEvent,
} from './types.ts';
import { timelineEvent } from './watch.ts';

/** Reads what a conversation holds: entries, summaries, events, model calls and their requests. */
export class LogMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Entries of the active branch, in order of sequence. Without bounds: the newest.
   * @throws HoldfastClientError `conversation_not_found`
   */
  entries(options: EntryRange): Promise<Page<ListedEntry>> {
    return listConversationEntries(this.#context.database, options);
  }

  /**
   * The entries around an entry on its branch, itself included, oldest first.
   * @param options.entryId of the entry, or of a compaction
   * @param options.count entries before it, and as many after it
   * @throws HoldfastClientError `entry_not_found`
   */
  async around(options: { readonly entryId: string; readonly count: number }): Promise<ListedEntry[]> {
    const { database } = this.#context;
    return withLateResults(database, await listEntriesAround(database, options.entryId, options.count));
  }

  /**
   * An entry with its whole original, byte for byte, or a summary.
   * @param options.entryId of the entry, or of the compaction that made the summary
   * @throws HoldfastClientError `entry_not_found`
   */
  open(options: { readonly entryId: string }): Promise<OpenedEntry> {
    return openStoredEntry(this.#context.database, options.entryId);
  }

  /**
   * Counts the entries of the active branch.
   * @param options.beforeSequence counts only entries before this one
   */
  async count(options: OfConversation & { readonly beforeSequence?: number }): Promise<number> {
    const { database } = this.#context;
    const { conversationId, beforeSequence: before } = options;
    const count = await countEntries(database, { conversationId, ...definedOf({ before }) });
    if (count === 0) await requireConversation(database, conversationId);
    return count;
  }

  /**
   * The id of an entry, on any branch.
   * @param options.sequence its number in the conversation, from 1
   * @throws HoldfastClientError `entry_not_found`
   */
  async findEntryId(options: OfConversation & { readonly sequence: number }): Promise<string> {
    const { database } = this.#context;
    const { conversationId, sequence } = options;
    const id = await findEntryId(database, conversationId, sequence);
    if (id !== null) return id;
    await requireConversation(database, conversationId);
    throw new HoldfastClientError('entry_not_found', `conversation ${conversationId} has no entry ${sequence}`);
  }

  /** Committed compactions with their summaries, oldest first. */
  summaries(options: OfConversation): Promise<StoredSummary[]> {
    return listStoredSummaries(this.#context.database, options);
  }

  /** Summaries whose text matches, oldest first. @param options.query as in `memory.search` */
  searchSummaries(options: OfConversation & { readonly query: string }): Promise<StoredSummary[]> {
    return listStoredSummaries(this.#context.database, options);
  }

  /**
   * Compares two summaries line by line.
   * @param options.older generation of the older one. Default: the one that the newer one updates
   * @param options.newer generation of the newer one. Default: the one that is in force
   * @throws HoldfastClientError `invalid_argument` if there are no two such summaries
   */
  async summaryDifference(
    options: OfConversation & { readonly older?: number; readonly newer?: number },
  ): Promise<SummaryDifference> {
    const { database } = this.#context;
    const { differenceOf } = await import('./summary-difference.ts');
    return differenceOf(await listStoredSummaries(database, options), options);
  }

  /** For each compaction, oldest first: the entries that its summary covers, and the entries that it shows shorter. */
  async lineage(options: OfConversation): Promise<CompactionLineage[]> {
    const { database } = this.#context;
    return knownConversation(database, options.conversationId, await readLineage(database, options.conversationId));
  }

  /**
   * Lists facts that left the window by compaction, such as numbers and paths, and whether recall finds each.
   * @param options.compactionId the window as this compaction left it. Default: the window as it is
   * @param options.limit how many facts recall is asked for. Default: 50
   * @throws HoldfastClientError `entry_not_found` for a compaction that the conversation does not have
   */
  async audit(
    options: OfConversation & { readonly compactionId?: string; readonly limit?: number },
  ): Promise<SummaryAudit> {
    const { database } = this.#context;
    const { conversationId, compactionId, limit = 50 } = options;
    // Of one that is not there nothing would be hidden.
    await requireConversation(database, conversationId);
    const { auditSummaries } = await import('../verify/audit/audit-summaries.ts');
    return auditSummaries(database, conversationId, { limit, ...definedOf({ compactionId }) });
  }

  /**
   * The newest events of the timeline, in order.
   * @param options.kinds only these kinds. Default: all
   * @param options.beforeSequence only events before this one
   * @param options.limit how many. Default: 500
   */
  async events(
    options: OfConversation & {
      readonly kinds?: readonly string[];
      readonly beforeSequence?: number;
      readonly limit?: number;
    },
  ): Promise<Page<TimelineEvent>> {
    const { database } = this.#context;
    const { limit = 500, beforeSequence: before, ...of } = options;
    const read = await listNewestEvents(database, { ...of, ...definedOf({ before }), limit: limit + 1 });
    await knownConversation(database, options.conversationId, read);
    return pageOf(read.map(timelineEvent), limit, 'last');
  }

  /** What fills the window of the next call, in tokens. */
  context(options: OfConversation): Promise<ContextReport> {
    return describeContext(this.#context.database, options.conversationId);
  }

  /** The request of a past model call, rebuilt. Without `turn`, `callNumber` and `attempt`: of the newest call. */
  view(options: OfConversation & ModelCallAddress): Promise<PastView> {
    return rebuildView(this.#context.database, options);
  }

  /**
   * The newest model calls with every attempt, oldest first.
   * @param options.before only calls before `turn.callNumber.attempt`, such as `3.7.1`
   * @param options.limit how many. Default: 100
   */
  modelCalls(options: OfConversation & { readonly before?: string; readonly limit?: number }): Promise<Page<PastCall>> {
    return listPastCalls(this.#context.database, options);
  }
}
