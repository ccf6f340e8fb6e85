import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Configuration } from '../../../src/config/configuration.ts';
import { ConfigurationError, type ConfigurationProblem } from '../../../src/config/errors.ts';
import { loadConfiguration, type LoadOptions } from '../../../src/config/load-configuration.ts';

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Loads a file of the given text, or none. */
export async function load(text: string | null, options: Partial<LoadOptions> = {}): Promise<Configuration> {
  const directory = await temporaryDirectory();
  if (text !== null) await writeFile(join(directory, 'holdfast.yaml'), text);
  return loadConfiguration({ directory, environment: {}, ...options });
}

/** The problems of a wrong file, each as `line:column option message`. */
export async function problemsOf(text: string | null, options: Partial<LoadOptions> = {}): Promise<readonly string[]> {
  const error = await load(text, options).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigurationError)) throw new Error(`no ConfigurationError: ${String(error)}`);
  expect(error.code).toBe('configuration_invalid');
  for (const problem of error.problems) expect(error.message).toContain(problem.message);
  return error.problems.map(asText);
}

function asText({ place, option, message }: ConfigurationProblem): string {
  return `${place === undefined ? '' : `${place.line}:${place.column} `}${option} ${message}`;
}
