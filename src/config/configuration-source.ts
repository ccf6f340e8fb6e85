/** Where `holdfast.yaml` lies, and what is wrong in it. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { systemErrorCode } from '../tools/errors.ts';
import { optionPath, type FoundProblem } from './check/describe-option-problem.ts';
import { given, type Environment } from './environment.ts';
import { ConfigurationError, invalidConfiguration, type ConfigurationProblem } from './errors.ts';
import { otherWritersOf } from './options/key-options.ts';
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
 * Another user's file above `from` is passed over with a warning of the process.
 * @throws ConfigurationError `configuration_unreadable` for a file with another ending
 */
export function findConfigurationFile(environment: Environment, from: string): string | null {
  const named = given(environment, 'HOLDFAST_CONFIG');
  if (named !== undefined) return resolve(named);
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const counts = (name: string): boolean => {
      const file = join(folder, name);
      return existsSync(file) && (folder === resolve(from) || isOwn(file));
    };
    if (counts(CONFIGURATION_FILE)) return join(folder, CONFIGURATION_FILE);
    refuseOtherName(folder, counts);
    if (dirname(folder) === folder) return null;
  }
}

/** A file that is overlooked because of its ending would leave its owner wondering why nothing of it is in force. */
function refuseOtherName(folder: string, counts: (name: string) => boolean): void {
  const other = ['holdfast.yml', 'holdfast.json'].find(counts);
  if (other === undefined) return;
  throw unreadable(
    `${join(folder, other)} is not read: Holdfast reads ${CONFIGURATION_FILE}. Rename it, or name it with HOLDFAST_CONFIG.`,
  );
}

/** One warning for each is enough, however often a process loads its configuration. */
const passedOver = new Set<string>();

/**
 * Whoever may write in a shared folder such as /tmp could otherwise send the keys of all who work below it to a server of his, or
 * keep them from working.
 */
function isOwn(file: string): boolean {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid;
  if (uid === undefined) return false;
  if (uid === 0 || uid === process.getuid?.()) return true;
  if (!passedOver.has(file)) {
    passedOver.add(file);
    process.emitWarning(
      `${file} is not read: it belongs to user ${uid} and is not in the working directory. To use it, name it with HOLDFAST_CONFIG or --config.`,
      'HoldfastWarning',
    );
  }
  return false;
}

function unreadable(message: string, options?: ErrorOptions): ConfigurationError {
  return new ConfigurationError('configuration_unreadable', message, options);
}
