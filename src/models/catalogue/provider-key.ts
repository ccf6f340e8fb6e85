import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ModelCallError } from '../model-client.ts';

/** Where a key comes from that may change while Holdfast runs. */
export type KeySource =
  /** Absolute path; white space around the key does not belong to it. */
  | { readonly kind: 'file'; readonly path: string }
  /** For `/bin/sh`; what it prints is the key. */
  | { readonly kind: 'command'; readonly command: string };

/** A key that is read again by time and when a server refuses it. */
export interface ProviderKey {
  /** @throws ModelCallError when it cannot be read and was never read before. */
  current(): Promise<string>;
  /** As it stands now: a file is read again, which costs little; a command is run again only by its age. */
  newest(): Promise<string>;
  /** Reads again, because a server refused this key; the same one when there is no other. */
  after(refused: string): Promise<string>;
}

export interface ProviderKeyOptions {
  /** Name of the provider, for errors. */
  readonly provider: string;
  readonly source: KeySource;
  /** Milliseconds after which the key is read again. Default: 300,000: short against the hour that cloud tokens live. */
  readonly refreshMilliseconds?: number;
  /** Told every key that was read, before it is used, so that it is masked from then on. */
  readonly onKey: (key: string) => void;
}

export const KEY_REFRESH_MILLISECONDS = 300_000;
/** A command that asks a person or waits for a network that is gone must not hold a turn for ever. */
const COMMAND_MILLISECONDS = 30_000;

const execute = promisify(execFile);

/** Callers at the same time share one reading. */
export function createProviderKey(options: ProviderKeyOptions): ProviderKey {
  const { source, provider, onKey, refreshMilliseconds = KEY_REFRESH_MILLISECONDS } = options;
  let known: { readonly key: string; readonly readAt: number } | undefined;
  let reading: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    try {
      const key = (await readSource(source)).trim();
      if (key === '') throw new EmptyKeyError();
      onKey(key);
      known = { key, readAt: performance.now() };
      return key;
    } catch (error) {
      // A secret store that is down for a minute must not end turns whose key is still good.
      if (known !== undefined) return known.key;
      throw unreadable(provider, source, error);
    } finally {
      reading = undefined;
    }
  };
  const readOnce = async (): Promise<string> => (reading ??= read());
  const current = async (): Promise<string> =>
    known !== undefined && performance.now() - known.readAt < refreshMilliseconds ? known.key : readOnce();
  return {
    current,
    newest: source.kind === 'file' ? readOnce : current,
    after: async (refused) => (known !== undefined && known.key !== refused ? known.key : readOnce()),
  };
}

class EmptyKeyError extends Error {}

async function readSource(source: KeySource): Promise<string> {
  if (source.kind === 'file') return readFile(source.path, 'utf8');
  const { stdout } = await execute('/bin/sh', ['-c', source.command], { timeout: COMMAND_MILLISECONDS });
  return stdout;
}

/** Says how it failed and nothing of what was read or printed, which may be half a key. */
function unreadable(provider: string, source: KeySource, error: unknown): ModelCallError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
  const how = error instanceof EmptyKeyError ? 'it is empty' : `reading it failed${code}`;
  const evidence = `the ${source.kind} with the key of ${provider} gives none: ${how}`;
  return new ModelCallError(evidence, {
    verdict: { kind: 'permanent', cause: 'authentication', repair: 'stop', evidence },
    vendorMessage: `The key of the provider ${provider} could not be read: ${evidence}. Mend it and send a message to go on.`,
  });
}
