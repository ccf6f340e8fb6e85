import { readFile, readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { sentencesOfComments, sentencesOfDocument } from './prose.ts';

/** Characters of sentences that one package gives at most, so that a few large ones are not most of the text. */
const OF_PACKAGE = 60_000;
/** Characters of the largest file that is read: what is larger was generated. */
const LARGEST = 500_000;

const DOCUMENT = /\.(?:md|markdown)$|^(?:readme|changelog|history|licen[cs]e|notice|security|authors)(?:\.txt)?$/iu;
const DECLARATIONS = /\.d\.[cm]?ts$/u;

/**
 * Different sentences by where they are from: the project's documents and every package that is installed beside it, its documents
 * first, then the comments of its declarations, in order of path, as many of each as it may give.
 * @param folder the project's root
 */
export async function readSentences(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Set<string>();
  const bySource = new Map<string, readonly string[]>();
  const documents = [...(await filesIn(folder)), ...(await filesBelow(join(folder, 'docs')))];
  bySource.set('.', await newSentencesOf(documents, known));
  for (const each of await packagesIn(join(folder, 'node_modules'))) {
    bySource.set(relative(folder, each), await newSentencesOf(await filesBelow(each), known));
  }
  return bySource;
}

async function newSentencesOf(paths: readonly string[], known: Set<string>): Promise<readonly string[]> {
  const documents = paths.filter((path) => DOCUMENT.test(basename(path)));
  const sentences: string[] = [];
  let characters = 0;
  for (const path of [...documents, ...paths.filter((each) => DECLARATIONS.test(each))]) {
    const text = await readFile(path, 'utf8');
    if (text.length > LARGEST) continue;
    for (const sentence of DECLARATIONS.test(path) ? sentencesOfComments(text) : sentencesOfDocument(text)) {
      if (characters >= OF_PACKAGE) return sentences;
      if (known.has(sentence)) continue;
      known.add(sentence);
      sentences.push(sentence);
      characters += sentence.length;
    }
  }
  return sentences;
}

/** Folders of packages, `@scope/name` too. */
async function packagesIn(folder: string): Promise<readonly string[]> {
  const packages: string[] = [];
  for (const name of await foldersIn(folder)) {
    const path = join(folder, name);
    if (name.startsWith('@')) packages.push(...(await foldersIn(path)).map((inScope) => join(path, inScope)));
    else if (!name.startsWith('.')) packages.push(path);
  }
  return packages;
}

/** Of all folders below, but those of packages that it brings itself: they are mostly other versions of the same. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const files = [...(await filesIn(folder))];
  for (const name of await foldersIn(folder)) {
    if (name !== 'node_modules') files.push(...(await filesBelow(join(folder, name))));
  }
  return files;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  return files.toSorted();
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.toSorted();
}
