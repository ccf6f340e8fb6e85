/**
 * Characters that regular expressions look at while something runs: for each try, from where it begins to the end of what it
 * found, or to the end of the text. What goes back within one try is not seen, so the longest text of one try is told too.
 */
export function countSteps(run: () => void): { readonly steps: number; readonly longest: number } {
  let steps = 0;
  let longest = 0;
  // oxlint-disable-next-line typescript/unbound-method -- called with the pattern
  const { exec } = RegExp.prototype;
  // oxlint-disable-next-line no-extend-native -- every way to match goes through it, and it is put back
  RegExp.prototype.exec = function counted(this: RegExp, text: string): RegExpExecArray | null {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const found = exec.call(this, text);
    const end = found === null ? (this.sticky ? from + 1 : text.length) : found.index + found[0].length;
    steps += Math.max(1, end - from);
    longest = Math.max(longest, this.sticky ? 0 : text.length);
    return found;
  };
  try {
    run();
  } finally {
    // oxlint-disable-next-line no-extend-native
    RegExp.prototype.exec = exec;
  }
  return { steps, longest };
}

/** What made patterns go back over and over: runs that one of their parts takes and another one gives up. */
export const HARD_UNITS: readonly string[] = [
  'a.b.',
  'a@',
  '((((',
  '    ',
  '"\'',
  "'\\",
  '0',
  '-',
  'http://',
  '上下文超过最大限制',
  '请求的消息过长，',
  'context window exceeds ',
  '<div>',
];
