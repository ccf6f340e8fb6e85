/** What stands in the place of a masked key. */
const MASKED = '[masked key]';

/** Shorter values are no keys; masking them would garble ordinary text. */
const SHORTEST_SECRET = 8;

/** Replaces Holdfast's own provider keys before anything is stored or shown. */
export interface SecretMask {
  /** Bytes that are safe to pass on; the last few wait for what follows them. */
  push(bytes: Uint8Array): Uint8Array;
  /** What was still waiting. */
  end(): Uint8Array;
}

/** A mask for a stream: a key that is split between two pieces is found too. Values under 8 characters are ignored. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const needles = usable(secrets).map((secret) => Buffer.from(secret).toString('latin1'));
  const longest = Math.max(0, ...needles.map((needle) => needle.length));
  if (longest === 0) return { push: (bytes) => bytes, end: () => new Uint8Array() };
  let waiting: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      const masked = maskBytes(Buffer.concat([waiting, bytes]), needles);
      const safe = Math.max(0, masked.length - (longest - 1));
      waiting = masked.subarray(safe);
      return masked.subarray(0, safe);
    },
    end() {
      const rest = waiting;
      waiting = Buffer.alloc(0);
      return rest;
    },
  };
}

/** The same for a text in one piece. */
export function maskText(text: string, secrets: readonly string[]): string {
  return usable(secrets).reduce((masked, secret) => masked.replaceAll(secret, MASKED), text);
}

/** Longest first: a key that contains another is replaced whole. */
function usable(secrets: readonly string[]): string[] {
  return secrets.filter((secret) => secret.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}

/** As Latin-1, in which each character is a byte. */
function maskBytes(bytes: Buffer, needles: readonly string[]): Buffer {
  const text = bytes.toString('latin1');
  const masked = needles.reduce((rest, needle) => rest.replaceAll(needle, MASKED), text);
  return masked === text ? bytes : Buffer.from(masked, 'latin1');
}
