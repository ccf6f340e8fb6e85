/** Largest payload that may reach Temporal. Bytes. */
export const PAYLOAD_LIMIT_BYTES: number;
