/** JSON of lists in an object, together so many levels deep. */
export function nestedJson(depth: number): string {
  return `{"value":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}
