/** Drops half of a surrogate pair that a cut left at either end of a text. */
export function wholeCharacters(text: string): string {
  return text.replaceAll(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

/** A number with its unit, as English wants it: `1 line`, `2 lines`. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
