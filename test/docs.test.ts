import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCS = join(ROOT, 'docs');

const pages = [
  ...readdirSync(DOCS)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(DOCS, name)),
  ...readdirSync(ROOT)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(ROOT, name)),
  ...['lab', 'simulator'].map((name) => join(ROOT, 'packages', name, 'README.md')),
];

/** The page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^ *```[^]*?^ *```$/gmu, '\n');
}

/** Anchors as GitHub makes them of a page's headings; a repeated heading gets a number. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(page).matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  return new Set(anchors);
}

function isBroken(page: string, target: string): boolean {
  if (/^[a-z]+:/u.test(target)) return false;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(file).has(anchor);
}

/** Paragraphs, list items and quotes, each on one line; code spans count as one word, titles of tests are left out. */
function paragraphsOf(page: string): string[] {
  return proseOf(page)
    .replaceAll(/^(?:#|\||\d+\. `test\/).*$/gmu, '\n')
    .split(/\n\s*\n|\n(?=\s*(?:[-*>]|\d+\.) )/u)
    .map((text) => text.replaceAll(/`[^`]*`/gu, 'code').replaceAll(/\]\([^)]*\)/gu, ']'));
}

function sentencesOf(paragraph: string): string[] {
  return paragraph.split(/(?<=[.!?][)"*]*)\s+/u).map((sentence) => sentence.trim().replaceAll(/\s+/gu, ' '));
}

const countWords = (text: string): number => text.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

test.each(pages.map((page) => relative(ROOT, page)))('links, anchors and named files of %s exist', (name) => {
  const page = join(ROOT, name);
  const prose = proseOf(page);
  const links = [...prose.replaceAll(/`[^`\n]*`/gu, '').matchAll(/\]\(([^)\s]+)\)/gu)].map(([, target = '']) => target);
  expect(links.filter((target) => isBroken(page, target))).toEqual([]);
  const files = [...prose.matchAll(/`((?:src|test|docs|scripts|dev|migrations|packages)\/[\w./-]+)`/gu)].map(
    ([, path = '']) => path,
  );
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test.each(pages.map((page) => relative(ROOT, page)))(
  'no sentence of %s has more than 25 words, no cell more than 120 characters',
  (name) => {
    const page = join(ROOT, name);
    const sentences = paragraphsOf(page).flatMap(sentencesOf);
    expect(sentences.filter((sentence) => countWords(sentence) > 25)).toEqual([]);
    const cells = [...proseOf(page).matchAll(/^\|.*$/gmu)].flatMap(([row]) => row.split(/(?<!\\)\|/u));
    expect(cells.map((cell) => cell.trim()).filter((cell) => cell.length > 120)).toEqual([]);
  },
);

/** The options of each command, by its name as in `holdfast branch list`. */
function optionsByCommand(): ReadonlyMap<string, ReadonlySet<string>> {
  const page = readFileSync(join(DOCS, 'cli.md'), 'utf8');
  const sections = page.matchAll(/^## holdfast (.+)\n\n```text\n([^]*?)^```/gmu);
  return new Map(Array.from(sections, ([, name = '', help = '']) => [name, new Set(help.match(OPTION))]));
}

const OPTION = /--[a-z][a-z-]*/gu;
const OPTIONS_OF_ALL = new Set([
  '--json',
  '--help',
  '--config',
  '--database-url',
  '--temporal-address',
  '--temporal-namespace',
]);

/** Calls of `holdfast` in code spans and blocks for the shell. */
function callsIn(page: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^ *```(?:sh|bash)\n([^]*?)^ *```/gmu)].map(
    ([, text = '']) => text,
  );
  const ofBlocks = [...blocks.join('\n').matchAll(/npx holdfast ([^|&#\n]+)/gu)];
  const ofSpans = [...proseOf(page).matchAll(/`(?:npx )?holdfast ([^`\n]+)`/gu)];
  return [...ofBlocks, ...ofSpans].map(([, call = '']) => call);
}

test('every command and option that a page names exists', () => {
  const commands = optionsByCommand();
  const unknown = pages.flatMap(callsIn).filter((call) => {
    const [group = '', name = ''] = call.split(' ').map((word) => /^[a-z-]*/u.exec(word)?.[0] ?? '');
    if (group === '') return false;
    const options = commands.get(`${group} ${name}`) ?? commands.get(group);
    if (options === undefined) return name !== '' || ![...commands.keys()].some((each) => each.startsWith(`${group} `));
    return (call.match(OPTION) ?? []).some((option) => !options.has(option) && !OPTIONS_OF_ALL.has(option));
  });
  expect(unknown).toEqual([]);
});
