/**
 * Splits the tool calls of one answer into waves: calls of a wave may run at once, waves run in
 * order. An exclusive call (an edit, a command) is a wave of its own, so it sees what earlier calls
 * did and later calls see what it did.
 */
export function toolWaves(calls: readonly { readonly exclusive: boolean }[]): number[][] {
  const waves: number[][] = [];
  let open: number[] = [];
  calls.forEach((call, index) => {
    if (call.exclusive) {
      if (open.length > 0) waves.push(open);
      waves.push([index]);
      open = [];
    } else {
      open.push(index);
    }
  });
  if (open.length > 0) waves.push(open);
  return waves;
}
