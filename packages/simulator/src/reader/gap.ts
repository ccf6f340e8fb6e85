/** A line that stands for text taken out: `[Clipped: …]`, `[… characters 6 to 90 … not shown …]`, `[TRUNCATED — …]`. */
export const GAP =
  /^ *\[[^\]\n]*\b(?:clipped|truncated|omitted|cleared|not shown|left out|removed|compacted)\b.*\]\s*$/im;

/** Whether software took something out of the middle of a result. */
export function hasGap(text: string): boolean {
  return GAP.test(text);
}
