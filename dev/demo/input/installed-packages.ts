import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Job, JobFile } from '../job.ts';
import { choosePackages } from './choose-packages.ts';
import type { PackageCandidate } from './choose-packages.ts';
import { searchedText } from './deep-figure.ts';
import { FIRST_SENTENCE_RULE } from './first-sentence.ts';
import { packageFacts } from './package-facts.ts';

/** Bytes of a further file: neither a stub nor more than one page of the largest window. */
const FURTHER_FILE = { smallest: 2_000, largest: 60_000 };

const manifestShape = z.looseObject({ os: z.unknown().optional(), cpu: z.unknown().optional() });

/**
 * The job of the demo: manifests and READMEs of packages that this project has installed.
 * @param modules a `node_modules` folder
 * @param window tokens
 */
export function packageJob(modules: string, window: number): Job {
  const found = packageNames(modules).flatMap((name) => readPackage(modules, name) ?? []);
  const searched = searchedText(found.flatMap(({ manifest, readme }) => [textOf(manifest), textOf(readme)]));
  const candidates = found.flatMap((each) => candidateOf(each, searched) ?? []);
  return {
    noun: 'package',
    description: 'installed npm packages, with manifests and READMEs',
    items: choosePackages(candidates, window),
    remarks: [FIRST_SENTENCE_RULE],
  };
}

interface InstalledPackage {
  readonly name: string;
  readonly directory: string;
  readonly manifest: Uint8Array;
  readonly readme: Uint8Array;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString().replaceAll('\r\n', '\n');
}

/** All but this project's own, which are linked there. */
function packageNames(modules: string): readonly string[] {
  const folders = (path: string): string[] =>
    readdirSync(path).filter((name) => !name.startsWith('.') && name !== '@holdfast');
  return folders(modules).flatMap((name) =>
    name.startsWith('@') ? folders(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function readPackage(modules: string, name: string): InstalledPackage | null {
  const directory = join(modules, name);
  const manifestPath = join(directory, 'package.json');
  if (!existsSync(manifestPath)) return null;
  const readmeName = readdirSync(directory).find((file) => /^readme\.md$/iu.test(file));
  if (readmeName === undefined) return null;
  const manifest = readFileSync(manifestPath);
  const { os, cpu } = manifestShape.parse(JSON.parse(manifest.toString()));
  // Installed on some machines only: the choice should be the same on all.
  if (os !== undefined || cpu !== undefined) return null;
  return { name, directory, manifest, readme: readFileSync(join(directory, readmeName)) };
}

function candidateOf(installed: InstalledPackage, searched: string): PackageCandidate | null {
  const { name, directory, manifest, readme } = installed;
  const facts = packageFacts(textOf(manifest), textOf(readme), searched);
  if (facts === null) return null;
  const files = [
    { path: `${name}/package.json`, bytes: manifest },
    { path: `${name}/README.md`, bytes: readme },
  ];
  return { item: { label: name, files, facts }, furtherFiles: () => furtherFilesIn(directory, name) };
}

/** Other texts of a package, documents first, in order of their names. */
function furtherFilesIn(directory: string, name: string): readonly JobFile[] {
  const rank = (path: string): number => (path.endsWith('.md') ? 0 : 1);
  return (
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => /^[\w./-]+(?:\.md|\.d\.ts|\.js)$/u.test(path) && !path.includes('node_modules'))
      // Another README further down would make "the README" two.
      .filter((path) => !/(?:^|\/)readme\.md$/iu.test(path))
      .filter((path) => isOfFittingSize(join(directory, path)))
      .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
      .map((path) => ({ path: `${name}/${path}`, bytes: readFileSync(join(directory, path)) }))
  );
}

function isOfFittingSize(path: string): boolean {
  const stat = statSync(path);
  return stat.isFile() && stat.size >= FURTHER_FILE.smallest && stat.size <= FURTHER_FILE.largest;
}
