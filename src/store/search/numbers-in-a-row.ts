/** Numbers that Postgres put together in one text, with commas between them; `null` where there are none. */
export function numbersOf(text: string | null): number[] {
  return text === null ? [] : text.split(',').map(Number);
}
