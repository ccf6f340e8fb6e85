import { existsSync, type Stats } from 'node:fs';
import { resolve, sep } from 'node:path';
import { z } from 'zod';
import { createProviderKey, KEY_REFRESH_MILLISECONDS, type KeySource } from '../../models/catalogue/provider-key.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import type { FoundProblem } from '../check/describe-option-problem.ts';

const MILLISECONDS = 1_000;

export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not its value');

/** Where a provider's key comes from. */
export const keyOptions = {
  apiKeyVariable: variableName.optional().meta({
    description: 'Name of the environment variable that holds the key.',
    defaultText: 'none',
  }),
  apiKeyFile: z.string().min(1).optional().meta({
    description: 'File that holds the key. A changed key needs no restart.',
    defaultText: 'none',
  }),
  apiKeyCommand: z.string().min(1).optional().meta({
    description:
      'Command for `/bin/sh` that prints the key within 30 seconds, like `pass show model-key`. A changed key needs no restart. Refused if a user other than root and the user of the worker owns or may write `holdfast.yaml`.',
    defaultText: 'none',
  }),
  apiKeyRefreshSeconds: z
    .number()
    .int()
    .positive()
    .optional()
    .meta({
      description:
        'How long a key of `apiKeyFile` or `apiKeyCommand` is used before it is read again. A refused key is read again at once.',
      unit: 'seconds',
      defaultText: `${KEY_REFRESH_MILLISECONDS / MILLISECONDS}`,
    }),
};

interface KeyOptions {
  readonly apiKeyFile?: string | undefined;
  readonly apiKeyCommand?: string | undefined;
  readonly apiKeyRefreshSeconds?: number | undefined;
}

/** What a key that is read in use needs to know. */
export interface KeySurroundings {
  /** Folder that relative paths begin at. */
  readonly directory: string;
  /** Told every key as soon as it is known. */
  readonly onKey: (key: string) => void;
}

/** The key of a provider whose file or command is named; nothing for others. */
export function keyOf(
  provider: string,
  { apiKeyFile, apiKeyCommand, apiKeyRefreshSeconds }: KeyOptions,
  { directory, onKey }: KeySurroundings,
): Pick<ProviderDefinition, 'key'> {
  const source = sourceOf(apiKeyFile, apiKeyCommand, directory);
  if (source === null) return {};
  const refresh =
    apiKeyRefreshSeconds === undefined ? {} : { refreshMilliseconds: apiKeyRefreshSeconds * MILLISECONDS };
  return { key: createProviderKey({ provider, source, onKey, ...refresh }) };
}

/** Absolute paths of the files that hold keys, and of those that a key command names. @param directory that relative paths begin at */
export function keyFiles(providers: Readonly<Record<string, KeyOptions>>, directory: string): readonly string[] {
  const files = Object.values(providers).flatMap(({ apiKeyFile }) => apiKeyFile ?? []);
  const words = Object.values(providers).flatMap(({ apiKeyCommand = '' }) => apiKeyCommand.split(/[\s'"=;&|<>()]+/u));
  const named = words.map((word) => resolve(directory, word));
  // With a folder, such as `.`, all that an agent works with could be closed.
  return [...files.map((file) => resolve(directory, file)), ...named.filter((path) => !isFolder(path))];
}

function isFolder(path: string): boolean {
  return existsSync(`${path}${sep}.`);
}

/**
 * Who besides root and the user of this process may write a file; `null`: nobody, or the system has no owners (Windows). Folders are
 * not looked at: Kubernetes mounts files in folders that everyone may write.
 */
export function otherWritersOf({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): string | null {
  const own = process.geteuid?.();
  if (own === undefined) return null;
  if (uid !== 0 && uid !== own) return `belongs to user ${uid}`;
  return (mode & 0o022) === 0 ? null : 'can be written by others';
}

type Servers = Readonly<Record<string, KeyOptions & { readonly command?: string | undefined }>>;

/** What a file names is run as the user of the worker: nobody else may say what. Pure. */
export function commandProblems(
  {
    providers,
    mcpServers,
    modules,
  }: {
    readonly providers?: Servers | undefined;
    readonly mcpServers?: Servers | undefined;
    readonly modules?: readonly string[] | undefined;
  },
  otherWriters: string | null,
): FoundProblem[] {
  if (otherWriters === null) return [];
  const message = `is not run: the file ${otherWriters}. It must belong to root or to the user who runs Holdfast, and nobody else may write it (chmod go-w)`;
  const ofServers = Object.entries({ providers, mcpServers }).flatMap(([section, servers = {}]) =>
    Object.entries(servers).flatMap(([name, server]) =>
      (['command', 'apiKeyCommand'] as const)
        .filter((option) => server[option] !== undefined)
        .map((option) => [section, name, option]),
    ),
  );
  const paths = [...ofServers, ...(modules === undefined ? [] : [['modules']])];
  return paths.map((path) => ({ code: 'untrusted_file', path, message }));
}

function sourceOf(file: string | undefined, command: string | undefined, directory: string): KeySource | null {
  if (file !== undefined) return { kind: 'file', path: resolve(directory, file) };
  return command === undefined ? null : { kind: 'command', command };
}
