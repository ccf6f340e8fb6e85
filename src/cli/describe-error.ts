import { CommanderError } from 'commander';
import { HoldfastClientError, clientError } from '../client/errors.ts';
import type { ClientErrorCode } from '../client/errors.ts';
import { isDiskFull } from '../local/full-disk.ts';
import { StackError } from '../local/stack-error.ts';
import { TemporalError } from '../temporal/errors.ts';
import { ConfigurationError } from '../config/errors.ts';
import { SessionFileError } from '../import/session-error.ts';
import { StoreError } from '../store/database/errors.ts';
import type { StoreErrorCode } from '../store/database/errors.ts';
import type { ExitReason } from './exit-codes.ts';
import { UsageError } from './usage-error.ts';

/** An error as a user reads it. */
export interface DescribedError {
  /** Stable. */
  readonly code: string;
  /** What happened, with the offending value. */
  readonly message: string;
  /** What to do. */
  readonly next: string;
  readonly exit: ExitReason;
}

const OTHER_NAMESPACE =
  'Let TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE name that one. After a restore or a copy, `npx holdfast db adopt --namespace <name>` changes it.';
const DEV = 'Start everything with `npx holdfast dev`, or set DATABASE_URL and TEMPORAL_ADDRESS.';

const POOLED = 'docs/connections.md says how to connect through a pooler.';

/** What to do about each code of the client. */
export const CLIENT_NEXT: Record<ClientErrorCode, { readonly next: string; readonly exit: ExitReason }> = {
  conversation_not_found: { next: '`npx holdfast list` shows the conversations.', exit: 'usage' },
  model_call_not_found: { next: '`npx holdfast view <conversation> --calls` lists the calls.', exit: 'usage' },
  memory_not_found: { next: '`npx holdfast memory list` shows them with their ids.', exit: 'usage' },
  branch_not_found: { next: '`npx holdfast branch list <conversation>` lists them.', exit: 'usage' },
  entry_not_found: {
    next: '`npx holdfast show <conversation>` and `npx holdfast recall` print ids of entries and summaries.',
    exit: 'usage',
  },
  decision_not_found: {
    next: '`npx holdfast show <conversation>` shows what waits, `npx holdfast approvals` what stands for agents.',
    exit: 'usage',
  },
  decision_ambiguous: {
    next: '`npx holdfast show <conversation>` shows each; name one: `npx holdfast approve <conversation> <call>`.',
    exit: 'usage',
  },
  decision_stale: { next: '`npx holdfast show <conversation>` shows how the call ended.', exit: 'usage' },
  conversation_busy: { next: '`npx holdfast stop <conversation>`, or wait until the turn has ended.', exit: 'usage' },
  conversation_exists: {
    next: '`npx holdfast show <conversation>` shows it; DATABASE_URL names another database to import the file into.',
    exit: 'usage',
  },
  conversation_file_invalid: {
    next: 'Use another copy of it, or export the conversation again with `npx holdfast export`.',
    exit: 'usage',
  },
  decision_id_reused: { next: 'Send with another decision id.', exit: 'usage' },
  message_id_reused: { next: 'Send with another message id.', exit: 'usage' },
  invalid_argument: { next: '`npx holdfast <command> --help` shows what it takes.', exit: 'usage' },
  nothing_to_resume: { next: 'Send a message instead: `npx holdfast send <conversation> "…"`.', exit: 'usage' },
  limit_not_raised: { next: 'Raise it by that much or more; `npx holdfast resume --help` lists all.', exit: 'usage' },
  resume_waiting: {
    next: 'Start a worker, and the turn goes on with the raise that waits: `npx holdfast watch <conversation>` shows it.',
    exit: 'usage',
  },
  too_many_waiting: {
    next: 'Start a worker, or wait until turns have taken some: `npx holdfast watch <conversation>` shows them.',
    exit: 'usage',
  },
  timeout: { next: 'The turn goes on; `npx holdfast watch last` shows it.', exit: 'turnNotCompleted' },
  client_closed: { next: 'Run the command again.', exit: 'unreachable' },
  database_unreachable: { next: DEV, exit: 'unreachable' },
  database_read_only: {
    next: 'Let DATABASE_URL name the primary, or end its read-only mode (default_transaction_read_only); then run the command again.',
    exit: 'unreachable',
  },
  database_disk_full: {
    next: 'Make room on the disk of Postgres, whose log tells more; then run the command again.',
    exit: 'unreachable',
  },
  database_connections_used_up: {
    next: 'Raise max_connections of Postgres, or end workers and clients that are not needed; then run the command again.',
    exit: 'unreachable',
  },
  database_busy: { next: 'Run the command again.', exit: 'unreachable' },
  database_refused: {
    next: 'Correct DATABASE_URL, or create the user and the database that it names.',
    exit: 'unreachable',
  },
  database_pooled: { next: POOLED, exit: 'unreachable' },
  database_schema: {
    next: 'Run `npx holdfast db migrate` with the version of Holdfast that the workers have.',
    exit: 'unreachable',
  },
  namespace_differs: { next: OTHER_NAMESPACE, exit: 'unreachable' },
  server_unreachable: { next: 'Start `npx holdfast server`, or correct its address.', exit: 'unreachable' },
  server_refused: { next: 'Do what the message says.', exit: 'usage' },
};

/** The same for codes that say more closely what is wrong with the database. */
export const STORE_NEXT: Partial<Record<StoreErrorCode, string>> = {
  database_behind: 'Run `npx holdfast db migrate`.',
  namespace_differs: OTHER_NAMESPACE,
  database_unsupported: 'Name an empty database, for example with DATABASE_URL.',
  database_pooled: POOLED,
  database_url_invalid: 'docs/connections.md says how an address is read.',
  pgvector_missing: 'Install pgvector 0.8 or newer on the server of Postgres.',
  database_differs: 'Use the version of Holdfast that made this database, or a newer one, or an empty database.',
};

/** The same where a flag names the database. */
const FLAG_NEXT: Partial<Record<ClientErrorCode, string>> = {
  database_unreachable: 'Correct --database-url, or start the Postgres that it names.',
  database_read_only:
    'Let --database-url name the primary, or end its read-only mode (default_transaction_read_only); then run the command again.',
  database_refused: 'Correct --database-url, or create the user and the database that it names.',
};

const OUTAGE_CODES: ReadonlySet<string> = new Set<ClientErrorCode>([
  'database_unreachable',
  'database_read_only',
  'database_disk_full',
  'database_connections_used_up',
  'database_busy',
]);

/** Whether Postgres failed in a way that passes: the same command may succeed later. */
export function isDatabaseOutage(thrown: unknown): boolean {
  return OUTAGE_CODES.has(describeError(thrown).code);
}

/** Any error in words for a user, without a stack. @param options.databaseFlag the address of Postgres came from its flag */
export function describeError(
  thrown: unknown,
  { databaseFlag = false }: { readonly databaseFlag?: boolean } = {},
): DescribedError {
  if (thrown instanceof CommanderError) return describeCommanderError(thrown);
  if (thrown instanceof UsageError)
    return { code: thrown.code, message: thrown.message, next: thrown.next, exit: 'usage' };
  if (thrown instanceof SessionFileError) {
    const { code, message, next } = thrown;
    return { code, message, next, exit: 'unreadableSession' };
  }
  if (thrown instanceof StackError) {
    const message = thrown.message.replace(thrown.fix, '').trim();
    return { code: thrown.code, message, next: thrown.fix, exit: 'unreachable' };
  }
  if (thrown instanceof TemporalError) {
    const { code, message, advice: next } = thrown;
    return { code, message, next, exit: 'usage' };
  }
  if (isDiskFull(thrown) && thrown instanceof Error)
    return {
      code: 'disk_full',
      message: thrown.message,
      next: 'Make room on that disk; then run the command again.',
      exit: 'unreachable',
    };
  if (thrown instanceof ConfigurationError) {
    const { code, message } = thrown;
    return {
      code,
      message,
      next:
        code === 'agent_unknown' || code === 'preset_unknown'
          ? 'Name one of those. `npx holdfast start --no-check` takes one that only a worker of your own knows.'
          : 'Correct what is named there, in holdfast.yaml, the environment or the command line.',
      exit: 'usage',
    };
  }
  const error = thrown instanceof StoreError ? thrown : clientError(thrown);
  if (error instanceof HoldfastClientError) {
    const { code, what, cause } = error;
    const known = CLIENT_NEXT[code];
    const storeNext = cause instanceof StoreError ? STORE_NEXT[cause.code] : undefined;
    const flagNext = databaseFlag ? FLAG_NEXT[code] : undefined;
    return { code, message: what, next: storeNext ?? flagNext ?? known.next, exit: known.exit };
  }
  if (error instanceof StoreError) return describeStoreError(error);
  if (isTemporalUnreachable(error)) {
    return { code: 'temporal_unreachable', message: 'Temporal does not answer.', next: DEV, exit: 'unreachable' };
  }
  return {
    code: 'internal',
    message: error instanceof Error ? error.message : String(error),
    next: 'HOLDFAST_DEBUG=1 shows where it happened; please report it.',
    exit: 'internal',
  };
}

/** As the terminal shows it. */
export function errorLines({ code, message, next }: DescribedError): string[] {
  return [`error (${code}): ${message}`, `next: ${next}`];
}

/** `Did you mean …` of commander becomes the next step. */
function describeCommanderError({ message, code }: CommanderError): DescribedError {
  const [first = '', suggestion] = message.replace(/^error: /u, '').split('\n');
  const meant = suggestion === undefined ? null : /^\(Did you mean (.+)\?\)$/u.exec(suggestion.trim());
  const help =
    code === 'commander.unknownCommand'
      ? '`npx holdfast --help` lists the commands.'
      : 'Add --help to see what it takes.';
  return {
    code: 'usage',
    message: first.trim(),
    next: meant === null ? help : `Did you mean ${meant[1] ?? ''}? ${help}`,
    exit: 'usage',
  };
}

function describeStoreError({ code, message }: StoreError): DescribedError {
  const next = STORE_NEXT[code];
  return next === undefined
    ? { code, message, next: '`npx holdfast show <conversation>` shows how things stand.', exit: 'usage' }
    : { code, message, next, exit: 'unreachable' };
}

/** Codes of gRPC for no connection: UNAVAILABLE and DEADLINE_EXCEEDED; the native core says it in words only. */
function isTemporalUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && (error.code === 14 || error.code === 4)) return true;
  return error.name === 'TransportError' || (error.cause !== undefined && isTemporalUnreachable(error.cause));
}
