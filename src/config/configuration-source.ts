/** Where `holdfast.yaml` lies, and what is wrong in it. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { systemErrorCode } from '../tools/errors.ts';
import { optionPath, type FoundProblem } from './describe-option-problem.ts';
import { given, type Environment } from './environment.ts';
import { ConfigurationError, invalidConfiguration, type ConfigurationProblem } from './errors.ts';
import { otherWritersOf } from './key-options.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

const CONFIGURATION_FILE = 'holdfast.yaml';

export interface ConfigurationSource {
  /** Absolute path. */
  readonly file: string;
  readonly yaml: YamlSource;
  /** Who else may write the file, in words; `null`: nobody but root and the user of this process. */
  readonly otherWriters: string | null;
}

/**
 * Reads the file that counts for a folder; `null` when there is none.
 * @throws ConfigurationError `configuration_unreadable`
 */
export function readConfigurationSource(environment: Environment, directory: string): ConfigurationSource | null {
  const file = findConfigurationFile(environment, directory);
  if (file === null) return null;
  try {
    const { text, stats } = readOnce(file);
    return { file, yaml: readYaml(text, relative(directory, file)), otherWriters: otherWritersOf(stats) };
  } catch (error) {
    throw unreadable(`${file} cannot be read (${systemErrorCode(error) ?? String(error)}).`, { cause: error });
  }
}

/** Owner and mode of the very file that is read, whatever is put in its place meanwhile. */
function readOnce(file: string): { readonly text: string; readonly stats: Stats } {
  const descriptor = openSync(file, 'r');
  try {
    return { stats: fstatSync(descriptor), text: readFileSync(descriptor, 'utf8') };
  } finally {
    closeSync(descriptor);
  }
}

/** Of the text and of its options. */
export function problemsIn(
  source: ConfigurationSource | null,
  found: readonly FoundProblem[],
): readonly ConfigurationProblem[] {
  const placed = found.map(({ code, path, message }) => ({
    code,
    option: optionPath(path),
    message,
    ...(source !== null && { place: source.yaml.place(path) }),
  }));
  return [...(source?.yaml.problems ?? []), ...placed];
}

/** @throws ConfigurationError naming each, in the order of the file */
export function requireNone(problems: readonly ConfigurationProblem[]): void {
  if (problems.length > 0) throw invalidConfiguration([...problems].sort(byPlace));
}

function byPlace(a: ConfigurationProblem, b: ConfigurationProblem): number {
  return (
    (a.place?.line ?? Infinity) - (b.place?.line ?? Infinity) || (a.place?.column ?? 0) - (b.place?.column ?? 0) || 0
  );
}

/**
 * The file that `HOLDFAST_CONFIG` names, else `holdfast.yaml` in the nearest folder upwards that has one; `null` when none has.
 * @throws ConfigurationError `configuration_unreadable` for a file with another ending, and for one of another user's above `from`
 */
export function findConfigurationFile(environment: Environment, from: string): string | null {
  const named = given(environment, 'HOLDFAST_CONFIG');
  if (named !== undefined) return resolve(named);
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, CONFIGURATION_FILE);
    if (existsSync(file)) {
      if (folder !== resolve(from)) requireOwn(file);
      return file;
    }
    refuseOtherName(folder);
    if (dirname(folder) === folder) return null;
  }
}

/** A file that is overlooked because of its ending would leave its owner wondering why nothing of it is in force. */
function refuseOtherName(folder: string): void {
  const other = ['holdfast.yml', 'holdfast.json'].find((name) => existsSync(join(folder, name)));
  if (other === undefined) return;
  throw unreadable(
    `${join(folder, other)} is not read: Holdfast reads ${CONFIGURATION_FILE}. Rename it, or name it with HOLDFAST_CONFIG.`,
  );
}

/** Whoever may write in a shared folder such as /tmp could otherwise send the keys of all who work below it to a server of his. */
function requireOwn(file: string): void {
  const { uid } = statSync(file);
  if (uid === 0 || uid === process.getuid?.()) return;
  throw unreadable(
    `${file} belongs to user ${uid} and is not in the working directory. To use it, name it with HOLDFAST_CONFIG or --config.`,
  );
}

function unreadable(message: string, options?: ErrorOptions): ConfigurationError {
  return new ConfigurationError('configuration_unreadable', message, options);
}
