import { wordsIn } from './unspaced-words.ts';

/** Words in a row that two texts must share for one to rest on the other. */
const RUN_WORDS = 4;
/** Numbers, names of files, addresses: shorter ones stand in too many texts by chance. */
const SHORTEST_NAME = 4;

export type MemoryOrigin = 'user' | 'model' | 'tool';

/** A text that the model may have the words of a memory from. */
export interface SaidText {
  readonly text: string;
  /** The entry that says it; `null` when it is not one that may be shown to all who share the memory. */
  readonly entryId: string | null;
}

/** Whose words a memory rests on, and where they stand. */
export interface MemorySource {
  readonly origin: MemoryOrigin;
  /** The entry that says most of it, of several the newest; `null` when none does that may be named. */
  readonly entryId: string | null;
}

/**
 * Texts are given in pages, the user's first, the newest first. Each walk stops after each text: other turns must not wait for
 * megabytes of results.
 */
export interface OriginReading {
  /** Walks through messages of the user; `true` when he said all of it and nothing else needs to be read. */
  readUser(texts: readonly SaidText[]): Generator<undefined, boolean>;
  /** Walks through what tools returned; `true` when some of it is theirs, by an entry that is named, and nothing else needs to be read. */
  readTools(texts: readonly SaidText[]): Generator<undefined, boolean>;
  /** @param isAllRead whether the pages held all that the model may have seen; what was not read may have said anything */
  source(isAllRead: boolean): MemorySource;
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
  const beginnings = new Set(wanted.map((run) => run.split(' ', 1)[0] ?? ''));
  const names = new Set(namesOf(text));
  /** How much of the memory each message of the user says that no newer one did. */
  const saidByUser = new Map<string | null, number>();
  let toolEntryId: string | null = null;
  let isOfTools = false;
  const saidIn = (said: string) => ({ runs: runsIn(others, beginnings, said), names: namesIn(names, said) });
  const isOfUser = (): boolean => wanted.length > 0 && others.size + names.size === 0;
  return {
    *readUser(texts) {
      for (const { text: said, entryId } of texts) {
        const found = saidIn(said);
        for (const run of found.runs) others.delete(run);
        for (const name of found.names) names.delete(name);
        saidByUser.set(entryId, (saidByUser.get(entryId) ?? 0) + found.runs.size + found.names.size);
        if (isOfUser()) return true;
        yield;
      }
      return isOfUser();
    },
    *readTools(texts) {
      for (const { text: said, entryId } of texts) {
        const found = saidIn(said);
        if (found.runs.size + found.names.size > 0) {
          isOfTools = true;
          toolEntryId = entryId;
          // What says it after others, a result of recall or a summary, is behind it: the result that said it first may still come.
          if (entryId !== null) return true;
        }
        yield;
      }
      return false;
    },
    source(isAllRead) {
      if (isOfTools || (!isAllRead && others.size + names.size > 0)) return { origin: 'tool', entryId: toolEntryId };
      return isOfUser() ? { origin: 'user', entryId: mostOf(saidByUser) } : { origin: 'model', entryId: null };
    },
  };
}

/** Of several that say as much, the first. */
function mostOf(counts: ReadonlyMap<string | null, number>): string | null {
  let most: readonly [string | null, number] = [null, 0];
  for (const each of counts) if (each[1] > most[1]) most = each;
  return most[0];
}

/** Tool results are long and many: one walk through the words of each, whatever the number of runs. */
function runsIn(runs: ReadonlySet<string>, beginnings: ReadonlySet<string>, text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const [first] = runs;
  if (first === undefined) return found;
  // All runs of a text are equally long.
  const length = first.split(' ').length;
  const words = wordsOf(text);
  for (const [index, word] of words.entries()) {
    if (!beginnings.has(word)) continue;
    const run = words.slice(index, index + length).join(' ');
    if (runs.has(run)) found.add(run);
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

function namesIn(names: ReadonlySet<string>, text: string): ReadonlySet<string> {
  if (names.size === 0) return names;
  const lower = text.toLowerCase();
  return new Set([...names].filter((name) => stands(name, lower)));
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
