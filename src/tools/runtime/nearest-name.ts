/** The end of what is wrong: `; did you mean model?`, or nothing when no name is near: at most a third of its letters differ. */
export function didYouMean(name: string, known: Iterable<string>): string {
  let nearest: string | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(simplified(name), simplified(candidate));
    const allowed = Math.max(1, Math.floor(candidate.length / 3));
    if (distance <= allowed && distance < smallest) {
      nearest = candidate;
      smallest = distance;
    }
  }
  return nearest === null ? '' : `; did you mean ${nearest}?`;
}

/** `allow_commands`, `allow-commands` and `allowCommands` are the same to whoever types them. */
function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '').slice(0, 64);
}

/** Letters to insert, delete, replace or swap (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replace = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replace, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
