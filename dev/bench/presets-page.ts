import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/preset-figures.md', import.meta.url));

/** Puts a text between the marks of a command in `docs/preset-figures.md`. @throws RangeError when the page has no such marks */
export async function writeToPresetsPage(command: string, text: string): Promise<void> {
  const [begin, end] = ['begin', 'end'].map((mark) => `<!-- written by \`${command}\`: ${mark} -->`);
  const page = await readFile(PAGE, 'utf8');
  const [before, after] = [page.indexOf(begin ?? ''), page.indexOf(end ?? '')];
  if (before === -1 || after === -1) throw new RangeError(`${PAGE} does not hold the lines ${begin} and ${end}`);
  await writeFile(PAGE, `${page.slice(0, before)}${begin}\n\n${text}\n\n${page.slice(after)}`);
}

/** In Markdown: the first column to the left, the others to the right. */
export function pageTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
