import postgres from 'postgres';

/**
 * Every refusal of the store. The first group is raised by the database itself, as an SQLSTATE of
 * class HF, so that a rule holds for whoever writes; the second by the store's code.
 */
export type StoreErrorCode =
  /** HF001. A newer turn owns the conversation: stop all work of this one. Not retryable. */
  | 'stale_epoch'
  /** A turn is open, or was begun by a later run, and Temporal has a newer run than the one that wants to begin: it is no longer wanted. Not retryable. */
  | 'run_replaced'
  /** A model call was registered before which the entry would have stood: the writer woke up too late. Not retryable. */
  | 'call_registered'
  /** HF002. The entry that a write builds on is no longer the newest: plan or project again. */
  | 'head_moved'
  /** HF003. Entries and events are never changed or deleted. */
  | 'append_only'
  /** HF004. A sequence number would leave a gap or repeat. */
  | 'sequence_gap'
  /** HF005. A newer attempt registered for the same work: drop what this attempt did. Not retryable. */
  | 'superseded_attempt'
  /** HF006. A compaction would keep a tool result without its call, or names an entry that is not on the branch. */
  | 'group_split'
  /** HF007. A turn is open: the conversation cannot be deleted or exported now. */
  | 'conversation_busy'
  | 'message_id_reused'
  | 'invalid_id'
  /** A resume of what runs or is done, or of nothing. */
  | 'nothing_to_resume'
  /** The limit that ended the turn must be raised to go on. */
  | 'limit_not_raised'
  | 'resume_waiting'
  /** So many messages wait for the turns of a conversation that no more are accepted. */
  | 'too_many_waiting'
  | 'invalid_search'
  /** A message id longer than 200 characters or empty. */
  | 'invalid_message_id'
  | 'conversation_not_found'
  /** A conversation that is imported has the id of one that is here. */
  | 'conversation_exists'
  /** A file to import that `holdfast export` did not write, or not this version's. */
  | 'conversation_file_invalid'
  | 'turn_not_found'
  | 'entry_not_found'
  | 'tool_call_not_found'
  | 'model_call_not_found'
  | 'branch_not_found'
  | 'compaction_not_found'
  | 'memory_not_found'
  /** It is what another user said, and only his conversations forget or supersede it. */
  | 'memory_of_another_user'
  /** Nothing waits for a person there, or not for that kind of decision. */
  | 'decision_not_found'
  | 'decision_ambiguous'
  /** The call was decided before, its time is over, or its turn has ended. */
  | 'decision_stale'
  | 'decision_id_reused'
  /** A claim, answer or plan that its row's state does not allow. */
  | 'wrong_state'
  | 'content_incomplete'
  /** The address of the database cannot be read, or a parameter of it is unknown, of no valid value or not supported. Not retryable. */
  | 'database_url_invalid'
  /** The address leads to a pooler in transaction mode, and does not say so or names no direct connection for notifications. */
  | 'database_pooled'
  /** Another version of Holdfast made the database. */
  | 'database_differs'
  /** Its login may not make what Holdfast needs, or its tables are divided otherwise than was asked for. */
  | 'database_unsupported'
  /** The turns of the database run in another namespace of Temporal. */
  | 'namespace_differs'
  /** Migrations of this version were not applied yet. */
  | 'database_behind'
  | 'pgvector_missing';

/** The only error of the store besides those of the connection. Its message never holds message text. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  /**
   * No further attempt of the work can succeed.
   */
  // `superseded_attempt` is not permanent: a worker that woke up late may have taken the work over from the attempt that Temporal counts on.
  get permanent(): boolean {
    return this.code !== 'head_moved' && this.code !== 'database_behind' && this.code !== 'superseded_attempt';
  }
}

const CODES_OF_SQLSTATES: Readonly<Record<string, StoreErrorCode>> = {
  HF001: 'stale_epoch',
  HF002: 'head_moved',
  HF003: 'append_only',
  HF004: 'sequence_gap',
  HF005: 'superseded_attempt',
  HF006: 'group_split',
  HF007: 'conversation_busy',
};

/** References of what may be written for a conversation without its lock, so that it can be deleted meanwhile. */
const REFERENCES_TO_CONVERSATIONS: ReadonlySet<string | undefined> = new Set([
  'messages_conversation_id_fkey',
  'search_progress_conversation_id_fkey',
]);
/** Of a reference that is broken Postgres tells the column and its value in brackets. */
const REFERRED_ID = /=\(([0-9a-f-]{36})\)/u;

export function toStoreError(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  if (error.code === '23503' && REFERENCES_TO_CONVERSATIONS.has(error.constraint_name)) {
    const [, id = ''] = REFERRED_ID.exec(error.detail ?? '') ?? [];
    const message = `there is no conversation ${id}: it was deleted meanwhile`;
    return new StoreError('conversation_not_found', message, { cause: error });
  }
  const code = CODES_OF_SQLSTATES[error.code];
  return code === undefined ? error : new StoreError(code, error.message, { cause: error });
}

/** How Postgres fails in a way that passes. */
export type Outage =
  | 'unreachable'
  /** It answers that it is starting or shutting down, or has ended the connection. */
  | 'restarting'
  /** A pooler answers that it cannot serve the connection; its message says why. */
  | 'pooler'
  /** All connections that it allows are in use. */
  | 'connections_used_up'
  /** A standby, or set so by an administrator. */
  | 'read_only'
  | 'disk'
  /** Others were in the way, or it is short of memory. */
  | 'busy';

/**
 * Node's and postgres.js's codes for no connection, and the SQLSTATEs that pass by themselves or when an administrator acts:
 * 08 connection (PgBouncer sends 08P01 for all that it refuses), 40 serialization and deadlock, 53 resources (connections, disk, memory),
 * 57P shutdown and start, 25006 read-only, 25P03 a transaction that was idle for too long, 55P03 a lock that did not come, 58030 disk.
 */
const OUTAGES: readonly (readonly [Outage, RegExp])[] = [
  ['connections_used_up', /^53300$/u],
  ['read_only', /^(?:25006|TARGET_SESSION_ATTRS)$/u],
  ['restarting', /^57P\w{2}$/u],
  ['pooler', /^08\w{3}$/u],
  ['disk', /^(?:53100|58030)$/u],
  ['busy', /^(?:40\w{3}|53\w{3}|25P03|55P03)$/u],
  [
    'unreachable',
    /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_\w+)$/u,
  ],
];

/** How Postgres failed, where that passes: the same write may succeed later. `null`: it is an error of another kind. */
export function outageOf(error: unknown): Outage | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const { code } = error;
  return OUTAGES.find(([, codes]) => codes.test(code))?.[0] ?? null;
}

export function isOutage(error: unknown): boolean {
  return outageOf(error) !== null;
}

/**
 * Whether others were in the way of it alone: it waited too long for a lock (55P03), or gave way to who waited for it in turn (40P01).
 * Nothing is wrong with Postgres: the same work on anything else need not wait.
 */
export function isLockConflict(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return /^(?:40\w{3}|55P03)$/u.test(error.code);
}
