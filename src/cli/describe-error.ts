import { CommanderError } from 'commander';
import { CLIENT_NEXT, HoldfastClientError, clientError } from '../client/errors.ts';
import type { ClientErrorCode } from '../client/errors.ts';
import { isDiskFull } from '../local/full-disk.ts';
import { StackError } from '../local/stack-error.ts';
import { TemporalError } from '../temporal/errors.ts';
import { ConfigurationError } from '../config/errors.ts';
import { SessionFileError } from '../import/session-error.ts';
import { StoreError } from '../store/database/errors.ts';
import type { StoreErrorCode } from '../store/database/errors.ts';
import type { ExitReason } from './exit-codes.ts';
import { shortId } from './find-conversation.ts';
import { wrapWords } from './render/text/text-width.ts';
import { UsageError } from './usage-error.ts';

export interface DescribedError {
  /** Stable. */
  readonly code: string;
  /** What happened, with the offending value. */
  readonly message: string;
  readonly next: string;
  readonly exit: ExitReason;
}

const DEV = 'Start everything with `npx holdfast dev`, or set DATABASE_URL and TEMPORAL_ADDRESS.';

/** How a command ends on each code of the client. */
export function exitOf(code: ClientErrorCode): ExitReason {
  if (code === 'timeout') return 'turnNotCompleted';
  return /^(?:database_|client_closed$|namespace_differs$|server_unreachable$)/u.test(code) ? 'unreachable' : 'usage';
}

/** What to do about codes that say more closely what is wrong with the database. */
export const STORE_NEXT: Partial<Record<StoreErrorCode, string>> = {
  database_behind: 'Run `npx holdfast db migrate`.',
  namespace_differs: CLIENT_NEXT.namespace_differs,
  database_unsupported: 'Name an empty database, for example with DATABASE_URL.',
  database_pooled: CLIENT_NEXT.database_pooled,
  database_url_invalid: 'docs/connections.md says how an address is read.',
  pgvector_missing: 'Install pgvector 0.8 or newer on the server of Postgres.',
  database_differs: 'Use the version of Holdfast that made this database, or a newer one, or an empty database.',
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

/** The error, with commands of its advice that name the conversation. */
export function adviceFor(conversationId: string, thrown: unknown): unknown {
  const error = clientError(thrown);
  if (!(error instanceof HoldfastClientError) || !error.next.includes('<conversation>')) return thrown;
  const next = error.next.replaceAll('<conversation>', shortId(conversationId));
  return new HoldfastClientError(error.code, error.what, { cause: error.cause, next });
}

/** Any error in words for a user, without a stack. */
export function describeError(thrown: unknown): DescribedError {
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
    const { code, what, next, cause } = error;
    const storeNext = cause instanceof StoreError ? STORE_NEXT[cause.code] : undefined;
    return { code, message: what, next: storeNext ?? next, exit: exitOf(code) };
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

/** @param columns `null`: two lines of any length. Only a command may be wider. Default: `null` */
export function errorLines({ code, message, next }: DescribedError, columns: number | null = null): string[] {
  // A command is copied, so no row ends inside one.
  const unbroken = next.replaceAll(COMMAND, (command) => command.replaceAll(' ', NO_BREAK_SPACE));
  const rows = wrapWords(`next: ${unbroken}`, columns, '', NO_BREAK_SPACE).map((row) =>
    row.replaceAll(NO_BREAK_SPACE, ' '),
  );
  return [...wrapWords(`error (${code}): ${message}`, columns), ...rows];
}

/** Between backticks, or from a colon to the end of the line. */
const COMMAND = /`[^`]*`|(?<=: )npx holdfast .*/gu;
const NO_BREAK_SPACE = '\u00a0';

/** What is there too much or too little of, the line of its usage shows. */
const COUNT_ERRORS = /^commander\.(?:missingArgument|excessArguments|missingMandatoryOptionValue)$/u;

/** `Did you mean …` of commander becomes the next step. */
function describeCommanderError(error: CommanderError & { readonly usage?: string }): DescribedError {
  const { message, code, usage } = error;
  const [first = '', suggestion] = message.replace(/^error: /u, '').split('\n');
  const meant = suggestion === undefined ? null : /^\(Did you mean (.+)\?\)$/u.exec(suggestion.trim());
  const shown = usage !== undefined && COUNT_ERRORS.test(code) ? `Usage: ${usage}. ` : '';
  const help =
    code === 'commander.unknownCommand'
      ? '`npx holdfast --help` lists the commands.'
      : `${shown}Add --help to see what it takes.`;
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
