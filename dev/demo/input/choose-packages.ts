import { byteCount } from '../job.ts';
import type { JobFile, JobItem } from '../job.ts';

/** A package whose facts are beyond doubt. */
export interface PackageCandidate {
  readonly item: JobItem;
  /** Further files of the package, for windows that manifests and READMEs do not exceed often enough. */
  readonly furtherFiles: () => readonly JobFile[];
}

/** As many as the e-mails in a task of which other agents left out eleven (seeds/wolffish.md). */
const PACKAGE_COUNT = 41;

/** Tokens. In a smaller window the list of the packages and a summary with their facts would fill it alone. */
const WINDOW_OF_ALL = 32_768;

/** Tokens of a smaller window that each package takes, its line in the task and its facts in a summary. */
const WINDOW_PER_PACKAGE = 2_700;

/** Packages to read: fewer in a small window, with longer READMEs. */
export function packageCountFor(window: number): number {
  return window < WINDOW_OF_ALL ? Math.max(2, Math.floor(window / WINDOW_PER_PACKAGE)) : PACKAGE_COUNT;
}

/** Bytes that are read at least, whatever the window. */
const SMALLEST_INPUT = 300 * 1_024;

/** The input exceeds the window this often. */
const WINDOWS_OF_INPUT = 3;

/** Bytes of a token at the most: English prose has about 4, code and JSON 3. */
const BYTES_PER_TOKEN = 4;

/** Bytes that the files have at least together. @param window tokens */
export function inputBytesFor(window: number): number {
  return Math.max(SMALLEST_INPUT, window * WINDOWS_OF_INPUT * BYTES_PER_TOKEN);
}

/**
 * The packages to read: of all candidates in order of size, the first neighbours that are large enough
 * together, so that files of every length are among them and the choice is the same each time. When
 * even the largest are not enough, further files of theirs are read too.
 */
export function choosePackages(candidates: readonly PackageCandidate[], window: number): readonly JobItem[] {
  const sizeOf = ({ item }: PackageCandidate): number => byteCount(item.files);
  const sorted = [...candidates].sort(
    (a, b) => sizeOf(a) - sizeOf(b) || (a.item.label < b.item.label ? -1 : a.item.label > b.item.label ? 1 : 0),
  );
  const wanted = inputBytesFor(window);
  const count = packageCountFor(window);
  for (let first = 0; first + count <= sorted.length; first += 1) {
    const chosen = sorted.slice(first, first + count);
    if (chosen.reduce((sum, candidate) => sum + sizeOf(candidate), 0) >= wanted)
      return inOrder(chosen.map(({ item }) => item));
  }
  return inOrder(withFurtherFiles(sorted.slice(-count), wanted));
}

/** Adds one file to each package in turn until the input is large enough. */
function withFurtherFiles(candidates: readonly PackageCandidate[], wanted: number): readonly JobItem[] {
  const further = candidates.map((candidate) => candidate.furtherFiles());
  const files = candidates.map(({ item }) => [...item.files]);
  let bytes = files.reduce((sum, own) => sum + byteCount(own), 0);
  const rounds = Math.max(0, ...further.map((more) => more.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, more] of further.entries()) {
      const file = more[round];
      if (file === undefined || bytes >= wanted) continue;
      files[index]?.push(file);
      bytes += file.bytes.length;
    }
  }
  return candidates.map(({ item }, index) => ({ ...item, files: files[index] ?? item.files }));
}

function inOrder(items: readonly JobItem[]): readonly JobItem[] {
  return [...items].sort((a, b) => (a.label < b.label ? -1 : 1));
}
