/** Fenced, up to the end of the text where nothing closes it. */
const CODE_BLOCK = /^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|$(?![\s\S]))/gmsu;

/** A text without its blocks of code: what they say nobody says. An empty line stands for each. */
export function withoutCode(text: string): string {
  return text.replaceAll(CODE_BLOCK, '\n');
}
