/** A number with its unit, as English wants it: `1 line`, `2 lines`. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
