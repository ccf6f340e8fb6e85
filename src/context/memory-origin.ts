import { wordsIn } from './unspaced-words.ts';

/** Words in a row that two texts must share for one to rest on the other. */
const RUN_WORDS = 4;
/** Numbers, names of files, addresses: shorter ones stand in too many texts by chance. */
const SHORTEST_NAME = 4;

export type MemoryOrigin = 'user' | 'model' | 'tool';

/** Texts are given in pages, the user's first. Each walk stops after each text: other turns must not wait for megabytes of results. */
export interface OriginReading {
  /** Walks through messages of the user; `true` when he said all of it and nothing else needs to be read. */
  readUser(texts: readonly string[]): Generator<undefined, boolean>;
  /** Walks through what tools returned; `true` when some of it is theirs and nothing else needs to be read. */
  readTools(texts: readonly string[]): Generator<undefined, boolean>;
  /** @param isAllRead whether the pages held all that the model may have seen; what was not read may have said anything */
  origin(isAllRead: boolean): MemoryOrigin;
}

/**
 * Whose words a memory rests on. What the user said is the user's, also when a tool repeats it, but only all of it: behind a wish of
 * the user's the model may say in other words what a tool asked for. As soon as any words of it
 * stand in tool output only, it is the tool's: what a file or a page says must not come back as if the user or the model had
 * said it, also not behind words of theirs. The same for one number, address, path or identifier: said in other words it has that
 * from the tool still. Case, punctuation and white space do not matter.
 */
export function readOrigin(text: string): OriginReading {
  const wanted = runsOf(text);
  const others = new Set(wanted);
  const names = new Set(namesOf(text));
  let isOfTools = false;
  return {
    *readUser(texts) {
      for (const run of yield* foundIn(others, texts)) others.delete(run);
      for (const name of yield* namesIn(names, texts)) names.delete(name);
      return wanted.length > 0 && others.size === 0 && names.size === 0;
    },
    *readTools(texts) {
      isOfTools ||= (yield* foundIn(others, texts)).size > 0 || (yield* namesIn(names, texts)).size > 0;
      return isOfTools;
    },
    origin(isAllRead) {
      if (isOfTools || (!isAllRead && others.size + names.size > 0)) return 'tool';
      return wanted.length > 0 && others.size + names.size === 0 ? 'user' : 'model';
    },
  };
}

/** Tool results are long and many: one walk through the words of each, whatever the number of runs. */
function* foundIn(runs: ReadonlySet<string>, texts: readonly string[]): Generator<undefined, ReadonlySet<string>> {
  const found = new Set<string>();
  const [first] = runs;
  if (first === undefined) return found;
  const beginnings = new Set([...runs].map((run) => run.split(' ', 1)[0] ?? ''));
  // All runs of a text are equally long.
  const length = first.split(' ').length;
  for (const text of texts) {
    if (found.size === runs.size) break;
    const words = wordsOf(text);
    for (const [index, word] of words.entries()) {
      if (!beginnings.has(word)) continue;
      const run = words.slice(index, index + length).join(' ');
      if (runs.has(run)) found.add(run);
    }
    yield;
  }
  return found;
}

/**
 * What a text says that cannot be said in other words, in lower case: with a digit, a dot, a colon or `@` inside, or of three parts
 * with slashes. Days and times are in too many texts to be of one.
 */
function namesOf(text: string): readonly string[] {
  const pieces = text.toLowerCase().match(/[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_]|[-./:@+](?=[\p{L}\p{N}_]))*/gu) ?? [];
  return pieces.filter(
    (piece) =>
      piece.length >= SHORTEST_NAME &&
      /[\p{N}.:@_]|\/.+\//u.test(piece) &&
      !/^(?:(?:19|20)\d\d(?:-\d\d){0,2}|\d{1,2}:\d\d(?::\d\d)?)$/u.test(piece),
  );
}

function* namesIn(names: ReadonlySet<string>, texts: readonly string[]): Generator<undefined, ReadonlySet<string>> {
  const found = new Set<string>();
  for (const text of texts) {
    if (found.size === names.size) break;
    const lower = text.toLowerCase();
    for (const name of names) if (stands(name, lower)) found.add(name);
    yield;
  }
  return found;
}

/** Not as part of a longer word or number. */
function stands(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = [text.slice(Math.max(0, at - 1), at), text.slice(at + name.length, at + name.length + 1)];
    if (!around.some((character) => /[\p{L}\p{N}_]/u.test(character))) return true;
  }
  return false;
}

/** Runs of words; of a shorter text, all of it. */
function runsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  if (words.length <= RUN_WORDS) return words.length === 0 ? [] : [words.join(' ')];
  const runs = words.slice(RUN_WORDS - 1).map((_, index) => words.slice(index, index + RUN_WORDS).join(' '));
  return [...new Set(runs)];
}

function wordsOf(text: string): string[] {
  return wordsIn(text.toLowerCase(), /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
}
