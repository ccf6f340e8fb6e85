import postgres from 'postgres';

/** What a server says of a connection when it is ready for the next query. */
export type ConnectionState = 'idle' | 'in_transaction';

const READY_FOR_QUERY = byte('Z');
const ERROR_RESPONSE = byte('E');
const NO_TLS = byte('N');
/** What a server's first message can be: a request for the password or an error. */
const FIRST_MESSAGES = new Set([byte('R'), ERROR_RESPONSE]);
const IDLE = byte('I');
/** Type and length; the length counts itself and not the type. */
const HEADER_BYTES = 5;
/** Fields of an error that anybody reads here, by the letters of the protocol. */
const ERROR_FIELDS: ReadonlyMap<string, string> = new Map([
  ['S', 'severity_local'],
  ['V', 'severity'],
  ['C', 'code'],
  ['M', 'message'],
  ['D', 'detail'],
  ['H', 'hint'],
  ['F', 'file'],
  ['L', 'line'],
  ['R', 'routine'],
]);
/** An error of these severities ends the connection. */
const LAST_SEVERITIES = new Set(['FATAL', 'PANIC']);

function byte(character: string): number {
  return character.charCodeAt(0);
}

interface ServerMessage {
  readonly type: number;
  /** Where it begins in the chunk; `null`: in one before. */
  readonly at: number | null;
  /** What the chunk has of it, without type and length. */
  readonly body: Buffer;
  readonly isWhole: boolean;
}

/**
 * Follows the messages that a Postgres server sends, however they are cut into chunks, and tells each that has a body when that
 * begins. Bytes under TLS say nothing.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
function readMessages(onMessage: (message: ServerMessage) => void): (chunk: Buffer) => void {
  let isFirst = true;
  let isReadable = true;
  let header: Buffer = Buffer.alloc(0);
  /** Where the header begins in the chunk. */
  let at: number | null = null;
  /** Bytes of the current message that are still to come, and whether none came yet. */
  let remaining = 0;
  let isNew = false;
  const begin = (chunk: Buffer): Buffer => {
    isFirst = false;
    const rest = chunk[0] === NO_TLS ? chunk.subarray(1) : chunk;
    isReadable = rest.length === 0 || FIRST_MESSAGES.has(rest[0] ?? 0);
    return rest;
  };
  return (chunk) => {
    if (chunk.length === 0) return;
    let rest = isFirst ? begin(chunk) : chunk;
    if (!isReadable) return;
    at = null;
    while (rest.length > 0) {
      if (remaining === 0) {
        if (header.length === 0) at = chunk.length - rest.length;
        const missing = rest.subarray(0, HEADER_BYTES - header.length);
        header = header.length === 0 ? missing : Buffer.concat([header, missing]);
        rest = rest.subarray(missing.length);
        if (header.length < HEADER_BYTES) return;
        remaining = header.readUInt32BE(1) - 4;
        isNew = true;
      } else {
        const body = rest.subarray(0, remaining);
        if (isNew) onMessage({ type: header[0] ?? 0, at, body, isWhole: body.length === remaining });
        isNew = false;
        remaining -= body.length;
        rest = rest.subarray(body.length);
      }
      if (remaining === 0) header = Buffer.alloc(0);
    }
  };
}

/** Tells each state that a server reports of a connection. */
export function readStates(onState: (state: ConnectionState) => void): (chunk: Buffer) => void {
  return readMessages(({ type, body }) => {
    if (type === READY_FOR_QUERY) onState(body[0] === IDLE ? 'idle' : 'in_transaction');
  });
}

/** The error with which a server ends a connection. */
export interface LastWords {
  /** Where its message begins in the chunk. */
  readonly at: number;
  readonly error: Error;
  /** Whether the connection was made before; else the server refuses it. */
  readonly isConnected: boolean;
}

/** Tells of each chunk whether the server ends the connection with it; one whose message is cut into chunks is not told. */
export function readLastWords(): (chunk: Buffer) => LastWords | null {
  let isConnected = false;
  let found: LastWords | null = null;
  const read = readMessages(({ type, at, body, isWhole }) => {
    if (type === READY_FOR_QUERY) isConnected = true;
    if (type !== ERROR_RESPONSE || at === null || !isWhole) return;
    const fields = fieldsOf(body);
    if (LAST_SEVERITIES.has(fields['severity'] ?? '')) found = { at, error: postgresError(fields), isConnected };
  });
  return (chunk) => {
    found = null;
    read(chunk);
    return found;
  };
}

function fieldsOf(body: Buffer): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const field of body.toString('utf8').split('\0')) {
    const name = ERROR_FIELDS.get(field.slice(0, 1));
    if (name !== undefined) fields[name] = field.slice(1);
  }
  return fields;
}

/** As postgres.js makes it; its types keep the constructor to itself. */
function postgresError(fields: Record<string, string>): Error {
  const error: unknown = Reflect.construct(postgres.PostgresError, [fields]);
  return error instanceof Error ? error : new Error(fields['message']);
}
