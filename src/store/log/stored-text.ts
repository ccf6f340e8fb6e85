/**
 * For a parameter of type json, as `${jsonText(value)}::text::json`. By way of text, because the
 * driver would encode a string a second time for a parameter that it knows to be json. NUL and lone
 * surrogates leave as escapes (well-formed JSON.stringify) and come back unchanged.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value);
}

/** For columns of type text, which hold neither NUL nor lone surrogates: replaced one for one. */
export function plainText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
}
