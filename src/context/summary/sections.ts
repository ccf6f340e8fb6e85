import type { CompactionPolicy, SummarySection } from '../policy/policy.ts';
import { splitLists } from './summary-message.ts';

export interface WrittenSection {
  readonly title: string;
  readonly text: string;
}

const HEADING = /^\s{0,3}(?:#{1,6}\s|\*\*)(.*\S)/;

/** A heading as models vary it: "## 1. **Open items:**" → "open items". `null` for any other line. */
function headingOf(line: string): string | null {
  const match = HEADING.exec(line);
  if (match === null) return null;
  return normalTitle(match[1] ?? '');
}

function normalTitle(title: string): string {
  return title
    .replaceAll(/[*_`#]/g, '')
    .replace(/^\s*\d+[.)]/, '')
    .trim()
    .replace(/:$/, '')
    .trim()
    .toLowerCase();
}

/** `labels`: `TASK: …`, as plain text; `markdown`: `## Task`. */
export type HeadingStyle = CompactionPolicy['summary']['headings'];

/**
 * The sections of the given titles that a text holds, in the order in which they stand in it. Only
 * these titles count as headings: a ledger may quote headings of the files that it is about.
 */
export function parseSections(text: string, titles: readonly string[], style?: HeadingStyle): WrittenSection[] {
  const byTitle = new Map(titles.map((title) => [normalTitle(title), title]));
  const sections: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const labelled = style === 'labels' ? labelOf(line, titles) : null;
    const heading = headingOf(line);
    const title = labelled?.title ?? (heading === null ? undefined : byTitle.get(heading));
    if (title === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ title, lines: labelled === null ? [] : [labelled.rest] });
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }));
}

/** A label stands at the start of its line in exactly these letters: "Data: 5" within a section is no heading. */
function labelOf(line: string, titles: readonly string[]): { readonly title: string; readonly rest: string } | null {
  const plain = line.replace(/^\s{0,3}(?:#{1,6}\s+)?\*{0,2}/, '');
  const title = titles.find((each) => plain.startsWith(`${each}:`) || plain.startsWith(`${each}**:`));
  if (title === undefined) return null;
  return { title, rest: plain.slice(plain.indexOf(':') + 1).replace(/^\*{0,2}\s*/, '') };
}

/** The sections of a finished summary, without the program's lists below it. */
export function readSections(
  text: string,
  { headings, sections }: Pick<CompactionPolicy['summary'], 'headings' | 'sections'>,
): WrittenSection[] {
  const { written } = splitLists(text);
  const own = written.split('\n').flatMap((line) => (line.startsWith('## ') ? [line.slice(3).trim()] : []));
  const titles = headings === 'labels' ? sections.map(({ title }) => title) : [...new Set(own)];
  return parseSections(written, titles, headings);
}

export function renderSections(sections: readonly WrittenSection[], style: HeadingStyle = 'markdown'): string {
  return sections
    .map(({ title, text }) => {
      const body = text === '' ? '- none' : text;
      if (style === 'markdown') return `## ${title}\n${body}`;
      return body.includes('\n') || body.startsWith('- ') ? `${title}:\n${body}` : `${title}: ${body}`;
    })
    .join('\n\n');
}

/** The headings that are asked for, each with what belongs there. */
export function headingList(sections: readonly SummarySection[], style: HeadingStyle = 'markdown'): string {
  return renderSections(
    sections.map(({ title, instruction: text }) => ({ title, text })),
    style,
  );
}
