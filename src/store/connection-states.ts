/** What a server says of a connection when it is ready for the next query. */
export type ConnectionState = 'idle' | 'in_transaction';

const READY_FOR_QUERY = byte('Z');
const NO_TLS = byte('N');
/** What a server's first message can be: a request for the password or an error. */
const FIRST_MESSAGES = new Set([byte('R'), byte('E')]);
const IDLE = byte('I');
/** Type and length; the length counts itself and not the type. */
const HEADER_BYTES = 5;

function byte(character: string): number {
  return character.charCodeAt(0);
}

/**
 * Follows the messages that a Postgres server sends, however they are cut into chunks, and tells each state that it reports.
 * Bytes under TLS say nothing.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function readStates(onState: (state: ConnectionState) => void): (chunk: Buffer) => void {
  let isFirst = true;
  let isReadable = true;
  let header: Buffer = Buffer.alloc(0);
  /** Bytes of the current message that are still to come. */
  let remaining = 0;
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
    while (rest.length > 0) {
      if (remaining === 0) {
        const missing = rest.subarray(0, HEADER_BYTES - header.length);
        header = header.length === 0 ? missing : Buffer.concat([header, missing]);
        rest = rest.subarray(missing.length);
        if (header.length < HEADER_BYTES) return;
        remaining = header.readUInt32BE(1) - 4;
      } else {
        if (header[0] === READY_FOR_QUERY) onState(rest[0] === IDLE ? 'idle' : 'in_transaction');
        const taken = Math.min(remaining, rest.length);
        remaining -= taken;
        rest = rest.subarray(taken);
      }
      if (remaining === 0) header = Buffer.alloc(0);
    }
  };
}
