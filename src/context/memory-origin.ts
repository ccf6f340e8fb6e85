/** Words in a row that two texts must share for one to rest on the other. */
const RUN_WORDS = 4;
/** Share of a text's runs that must stand in what somebody said. */
const SHARE = 0.5;

/**
 * Whose words a memory rests on. What the user said is the user's, also when a tool repeats it; what else stands in tool
 * output is the tool's: what a file or a page says must not come back as if the model had found it out. Case, punctuation and white space do not matter.
 *
 * @param said.tools texts of tool results that the model has seen
 * @param said.user texts of the user's messages
 */
export function memoryOrigin(
  text: string,
  said: { readonly tools: readonly string[]; readonly user: readonly string[] },
): 'user' | 'model' | 'tool' {
  const wanted = runsOf(text);
  if (restsOn(wanted, said.user)) return 'user';
  if (restsOn(wanted, said.tools)) return 'tool';
  return 'model';
}

function restsOn(wanted: ReadonlySet<string>, texts: readonly string[]): boolean {
  const found = new Set<string>();
  for (const text of texts) {
    const words = ` ${wordsOf(text).join(' ')} `;
    for (const run of wanted) if (words.includes(` ${run} `)) found.add(run);
    if (found.size >= wanted.size * SHARE) return found.size > 0;
  }
  return false;
}

/** Runs of words; of a shorter text, all of it. */
function runsOf(text: string): ReadonlySet<string> {
  const words = wordsOf(text);
  if (words.length <= RUN_WORDS) return new Set(words.length === 0 ? [] : [words.join(' ')]);
  return new Set(words.slice(RUN_WORDS - 1).map((_, index) => words.slice(index, index + RUN_WORDS).join(' ')));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
