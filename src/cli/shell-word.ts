/** As one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w.:/-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
