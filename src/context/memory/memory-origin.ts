import { comparedWords, saidAsWhole, sentencesOf } from '../log/whole-sentences.ts';

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
 * Whose words a memory rests on. What the user said is the user's, also when a tool repeats it, but only all of it, in whole
 * sentences: behind a wish of the user's the model may say in other words what a tool asked for, and part of "never delete the
 * backups" is the opposite of it. As soon as any words of what is not the user's
 * stand in tool output only, it is the tool's: what a file or a page says must not come back as if the user or the model had
 * said it, also not behind words of theirs. The same for one number, address, path or identifier: said in other words it has that
 * from the tool still. Case, punctuation and white space do not matter.
 */
export function readOrigin(text: string): OriginReading {
  return new Reading(text);
}

class Reading implements OriginReading {
  readonly #hasWords: boolean;
  /** Runs of words that the user says in no whole sentence. */
  readonly #others: Set<string>;
  /** Of these, what he says within other sentences: a tool that says it after him, as recall does, makes it none of its own. */
  readonly #withinHis = new Set<string>();
  /** Sentences that he does not say. */
  readonly #unsaid: Set<string>;
  readonly #names: Set<string>;
  readonly #beginnings: ReadonlySet<string>;
  /** How much of the memory each message of the user says that no newer one did. */
  readonly #saidByUser = new Map<string | null, number>();
  #toolEntryId: string | null = null;
  #isOfTools = false;

  constructor(text: string) {
    const wanted = runsOf(text);
    this.#hasWords = wanted.length > 0;
    this.#others = new Set(wanted);
    this.#unsaid = new Set(sentencesOf(text));
    this.#names = new Set(namesOf(text));
    this.#beginnings = new Set(wanted.map((run) => run.split(' ', 1)[0] ?? ''));
  }

  *readUser(texts: readonly SaidText[]): Generator<undefined, boolean> {
    for (const message of texts) {
      this.#readMessage(message);
      if (this.#isOfUser()) return true;
      yield;
    }
    return this.#isOfUser();
  }

  *readTools(texts: readonly SaidText[]): Generator<undefined, boolean> {
    for (const { text, entryId } of texts) {
      const runs = [...this.#runsIn(comparedWords(text))];
      const isTheirs = runs.some((run) => entryId !== null || !this.#withinHis.has(run));
      if (isTheirs || namesIn(this.#names, text).size > 0) {
        this.#isOfTools = true;
        this.#toolEntryId = entryId;
        // What says it after others, a result of recall or a summary, is behind it: the result that said it first may still come.
        if (entryId !== null) return true;
      }
      yield;
    }
    return false;
  }

  source(isAllRead: boolean): MemorySource {
    if (this.#isOfUser()) return { origin: 'user', entryId: mostOf(this.#saidByUser) };
    const mayBeOfTools = !isAllRead && this.#others.size + this.#names.size > 0;
    const isOfTools = this.#isOfTools || mayBeOfTools;
    return isOfTools ? { origin: 'tool', entryId: this.#toolEntryId } : { origin: 'model', entryId: null };
  }

  #isOfUser(): boolean {
    return this.#hasWords && this.#unsaid.size + this.#names.size === 0;
  }

  #readMessage({ text, entryId }: SaidText): void {
    const words = comparedWords(text);
    for (const run of this.#runsIn(words)) this.#withinHis.add(run);
    const named = namesIn(this.#names, text);
    for (const name of named) this.#names.delete(name);
    let said = named.size;
    for (const sentence of this.#sentencesIn(words, text)) {
      this.#unsaid.delete(sentence);
      const runs = this.#runsIn(sentence.split(' '));
      for (const run of runs) this.#others.delete(run);
      said += 1 + runs.size;
    }
    this.#saidByUser.set(entryId, (this.#saidByUser.get(entryId) ?? 0) + said);
  }

  /** Most messages have none of its sentences, and need not be taken apart into theirs. */
  #sentencesIn(words: readonly string[], text: string): ReadonlySet<string> {
    const row = ` ${words.join(' ')} `;
    const within = new Set([...this.#unsaid].filter((sentence) => row.includes(` ${sentence} `)));
    return within.size === 0 ? within : saidAsWhole(within, text);
  }

  #runsIn(words: readonly string[]): ReadonlySet<string> {
    return runsIn(this.#others, this.#beginnings, words);
  }
}

/** Of several that say as much, the first. */
function mostOf(counts: ReadonlyMap<string | null, number>): string | null {
  let most: readonly [string | null, number] = [null, 0];
  for (const each of counts) if (each[1] > most[1]) most = each;
  return most[0];
}

/** Tool results are long and many: one walk through the words of each, whatever the number of runs. */
function runsIn(
  runs: ReadonlySet<string>,
  beginnings: ReadonlySet<string>,
  words: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const [first] = runs;
  if (first === undefined) return found;
  // All runs of a text are equally long.
  const length = first.split(' ').length;
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
  const words = comparedWords(text);
  if (words.length <= RUN_WORDS) return words.length === 0 ? [] : [words.join(' ')];
  const runs = words.slice(RUN_WORDS - 1).map((_, index) => words.slice(index, index + RUN_WORDS).join(' '));
  return [...new Set(runs)];
}
