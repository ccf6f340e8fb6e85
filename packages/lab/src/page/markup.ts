const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it may stand in an element or a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

export function formatTokens(tokens: number): string {
  return String(Math.round(tokens)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** `31204` → `31k`. */
export function shortTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  return tokens < 999_500 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function formatDollars(dollars: number | null): string {
  return dollars === null ? 'unknown' : `$${dollars.toFixed(2)}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : '–';
}

/** A table that scrolls inside itself where it is too wide. @param texts columns that are no numbers; the first is none */
export function dataTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  texts: readonly string[] = [],
): string {
  const isNumber = (column: number): boolean => column > 0 && !texts.includes(head[column] ?? '');
  const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
    row.map((cell, index) => `<${tag}${isNumber(index) ? ' class="number"' : ''}>${cell}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
  return `<div class="scroll"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`;
}
