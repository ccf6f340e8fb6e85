/** Words in a row that two texts must share for one to rest on the other. */
const RUN_WORDS = 4;
/** Share of a text's runs that must stand in what the user said. */
const SHARE = 0.5;

/**
 * Whose words a memory rests on. What the user said is the user's, also when a tool repeats it. As soon as any words of it
 * stand in tool output only, it is the tool's: what a file or a page says must not come back as if the user or the model had
 * said it, also not behind words of theirs. Case, punctuation and white space do not matter.
 *
 * Stops after each text: a worker's other turns must not wait for megabytes of results.
 *
 * @param said.tools texts of tool results that the model has seen
 * @param said.user texts of the user's messages
 */
export function* readingOrigin(
  text: string,
  said: { readonly tools: readonly string[]; readonly user: readonly string[] },
): Generator<undefined, 'user' | 'model' | 'tool'> {
  const wanted = runsOf(text);
  const ofUser = yield* foundIn(wanted, said.user);
  const others = wanted.filter((run) => !ofUser.has(run));
  if ((yield* foundIn(others, said.tools)).size > 0) return 'tool';
  return ofUser.size > 0 && ofUser.size >= wanted.length * SHARE ? 'user' : 'model';
}

/** Tool results are long and many: one walk through the words of each, whatever the number of runs. */
function* foundIn(wanted: readonly string[], texts: readonly string[]): Generator<undefined, ReadonlySet<string>> {
  const runs = new Set(wanted);
  const beginnings = new Set(wanted.map((run) => run.split(' ', 1)[0] ?? ''));
  // All runs of a text are equally long.
  const length = wanted[0]?.split(' ').length ?? 0;
  const found = new Set<string>();
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

/** Runs of words; of a shorter text, all of it. */
function runsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  if (words.length <= RUN_WORDS) return words.length === 0 ? [] : [words.join(' ')];
  const runs = words.slice(RUN_WORDS - 1).map((_, index) => words.slice(index, index + RUN_WORDS).join(' '));
  return [...new Set(runs)];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
