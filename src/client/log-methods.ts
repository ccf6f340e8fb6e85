import { definedOf } from '../context/policy/defined-of.ts';
import { readLineage } from '../store/compactions/lineage.ts';
import type { CompactionLineage } from '../store/compactions/lineage.ts';
import { countEntries, findEntryId, listEntriesAround } from '../store/log/entries.ts';
import { listNewestEvents } from '../store/log/events.ts';
import { auditSummaries } from '../verify/audit/audit-summaries.ts';
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
  TimelineEvent,
} from './types.ts';
import { timelineEvent } from './watch.ts';

/** What a conversation holds: entries, summaries, model calls and what they saw. */
export class LogMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Entries of the active branch, in order of sequence; without bounds the newest.
   * @throws HoldfastClientError `conversation_not_found`, as all that read a conversation
   */
  entries(options: EntryRange): Promise<Page<ListedEntry>> {
    return this.#context.boundary.call('log.entries', options, () =>
      listConversationEntries(this.#context.database, options),
    );
  }

  /**
   * The entries around an entry on its branch, itself included, oldest first; by a compaction's id those around its marker.
   * @param options.count before and after it
   * @throws HoldfastClientError `entry_not_found`
   */
  around(options: { readonly entryId: string; readonly count: number }): Promise<ListedEntry[]> {
    const { boundary, database } = this.#context;
    return boundary.call('log.around', options, async () =>
      withLateResults(database, await listEntriesAround(database, options.entryId, options.count)),
    );
  }

  /** An entry with its whole original, byte for byte; or a summary, by its compaction's id. @throws HoldfastClientError `entry_not_found` */
  open(options: { readonly entryId: string }): Promise<OpenedEntry> {
    return this.#context.boundary.call('log.open', options, () =>
      openStoredEntry(this.#context.database, options.entryId),
    );
  }

  /**
   * How many entries the active branch has: what `entries` would list in all.
   * @param options.beforeSequence only those before it
   */
  count(options: OfConversation & { readonly beforeSequence?: number }): Promise<number> {
    const { boundary, database } = this.#context;
    return boundary.call('log.count', options, async () => {
      const { conversationId, beforeSequence: before } = options;
      const count = await countEntries(database, { conversationId, ...definedOf({ before }) });
      if (count === 0) await requireConversation(database, conversationId);
      return count;
    });
  }

  /** The id of the entry with a sequence, on whatever branch. @throws HoldfastClientError `entry_not_found` */
  findEntryId(options: OfConversation & { readonly sequence: number }): Promise<string> {
    const { boundary, database } = this.#context;
    return boundary.call('log.findEntryId', options, async () => {
      const { conversationId, sequence } = options;
      const id = await findEntryId(database, conversationId, sequence);
      if (id !== null) return id;
      await requireConversation(database, conversationId);
      throw new HoldfastClientError('entry_not_found', `conversation ${conversationId} has no entry ${sequence}`);
    });
  }

  /** Oldest first. */
  summaries(options: OfConversation): Promise<StoredSummary[]> {
    return this.#context.boundary.call('log.summaries', options, () =>
      listStoredSummaries(this.#context.database, options),
    );
  }

  /** Summaries whose text matches, oldest first. */
  searchSummaries(options: OfConversation & { readonly query: string }): Promise<StoredSummary[]> {
    return this.#context.boundary.call('log.searchSummaries', options, () =>
      listStoredSummaries(this.#context.database, options),
    );
  }

  /** From each summary, over generations, to the exact entries that it covers; and what each pass shows shorter. Oldest first. */
  lineage(options: OfConversation): Promise<CompactionLineage[]> {
    const { boundary, database } = this.#context;
    return boundary.call('log.lineage', options, async () =>
      knownConversation(database, options.conversationId, await readLineage(database, options.conversationId)),
    );
  }

  /**
   * Which facts of the originals that left the window, or that it shows shorter, it no longer says, and whether recall finds them.
   * @param options.compactionId the window as this compaction left it. Default: the window as it is
   * @param options.limit facts that recall is asked for. Default: 50
   * @throws HoldfastClientError `entry_not_found` for a compaction that the conversation does not have
   */
  audit(options: OfConversation & { readonly compactionId?: string; readonly limit?: number }): Promise<SummaryAudit> {
    const { boundary, database } = this.#context;
    return boundary.call('log.audit', options, async () => {
      const { conversationId, compactionId, limit = 50 } = options;
      // Of one that is not there nothing would be hidden.
      await requireConversation(database, conversationId);
      return auditSummaries(database, conversationId, { limit, ...definedOf({ compactionId }) });
    });
  }

  /**
   * The newest events of the timeline, in order; of some kinds, or of all.
   * @param options.beforeSequence only those before it
   * @param options.limit default: 500
   */
  events(
    options: OfConversation & {
      readonly kinds?: readonly string[];
      readonly beforeSequence?: number;
      readonly limit?: number;
    },
  ): Promise<Page<TimelineEvent>> {
    const { boundary, database } = this.#context;
    return boundary.call('log.events', options, async () => {
      const { limit = 500, beforeSequence: before, ...of } = options;
      const read = await listNewestEvents(database, { ...of, ...definedOf({ before }), limit: limit + 1 });
      await knownConversation(database, options.conversationId, read);
      return pageOf(read.map(timelineEvent), limit, 'last');
    });
  }

  /** What fills the window of the next call. */
  context(options: OfConversation): Promise<ContextReport> {
    return this.#context.boundary.call('log.context', options, () =>
      describeContext(this.#context.database, options.conversationId),
    );
  }

  /** What the model saw at a call, compactions of that time in force; without numbers at the newest. */
  view(options: OfConversation & ModelCallAddress): Promise<PastView> {
    return this.#context.boundary.call('log.view', options, () => rebuildView(this.#context.database, options));
  }

  /**
   * Model calls with every try, oldest first; the newest `limit`.
   * @param options.before only older ones than `turn.callNumber.attempt`, such as `3.7.1`
   * @param options.limit default: 100
   */
  modelCalls(options: OfConversation & { readonly before?: string; readonly limit?: number }): Promise<Page<PastCall>> {
    return this.#context.boundary.call('log.modelCalls', options, () => listPastCalls(this.#context.database, options));
  }
}
