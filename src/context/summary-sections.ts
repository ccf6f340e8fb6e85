export interface WrittenSection {
  readonly title: string;
  /** Without the heading, trimmed. */
  readonly text: string;
}

const HEADING = /^\s{0,3}(?:#{1,6}\s+|\*\*)(.+?)\s*$/;

/** A heading as models vary it: "## 1. **Open items:**" → "open items". `null` for any other line. */
function headingOf(line: string): string | null {
  const match = HEADING.exec(line);
  if (match === null) return null;
  return normalTitle(match[1] ?? '');
}

function normalTitle(title: string): string {
  return title
    .replaceAll(/[*_`#]/g, '')
    .replace(/^\s*\d+[.)]\s*/, '')
    .replace(/\s*:\s*$/, '')
    .trim()
    .toLowerCase();
}

/**
 * The sections of the given titles that a text holds, in the order in which they stand in it. Only
 * these titles count as headings: a ledger may quote headings of the files that it is about.
 */
export function parseSections(text: string, titles: readonly string[]): WrittenSection[] {
  const byTitle = new Map(titles.map((title) => [normalTitle(title), title]));
  const sections: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const heading = headingOf(line);
    const title = heading === null ? undefined : byTitle.get(heading);
    if (title === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ title, lines: [] });
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }));
}

/** All second-level headings of a text, whatever their titles. */
export function splitSections(text: string): WrittenSection[] {
  const titles = text.split('\n').flatMap((line) => (line.startsWith('## ') ? [line.slice(3).trim()] : []));
  return parseSections(text, [...new Set(titles)]);
}

export function renderSections(sections: readonly WrittenSection[]): string {
  return sections.map(({ title, text }) => `## ${title}\n${text === '' ? '- none' : text}`).join('\n\n');
}
