/** Control characters but for tab and line feed, C1 included. */
const CONTROL = /[^\P{Cc}\n\t]/gu;
/** Marks that change the direction of what follows, and lone surrogates. */
const INVISIBLE = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\p{Cs}]/gu;

function symbolOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : named(character);
}

function named(character: string): string {
  return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Text of the log with escapes and direction marks shown instead of obeyed. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(CONTROL, symbolOf).replaceAll(INVISIBLE, named);
}
