import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { drawMutations } from '../../dev/mutate/draw.ts';
import { ModuleUsers } from '../../dev/mutate/module-users.ts';
import { findMutations } from '../../dev/mutate/mutations.ts';
import { insertProbes } from '../../dev/mutate/probes.ts';

/** What each change makes of a source. */
function mutated(source: string): string[] {
  return findMutations('src/a.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );
}

test.each<[source: string, changes: readonly string[]]>([
  ['if (a) b();', ['if (!(a)) b();', 'if (a) ;']],
  ['c = a <= b;', [';', 'c = a < b;']],
  ['export const c = a && b;', ['export const c = (a) || (b);']],
  ['export const c = a ?? null;', ['export const c = a;']],
  ["export const c = 'code';", ["export const c = 'mutated';"]],
  ["export const c = 'A sentence.';", []],
  [
    'export const c = [true, 0, 7];',
    ['false, 0, 7', 'true, 1, 7', 'true, 0, 0'].map((items) => `export const c = [${items}];`),
  ],
  ['export const c = a?.filter(b);', ['export const c = a;']],
  ['export const c = a.some(b);', ['export const c = a.every(b);']],
  [
    'export function f(): void { a(); }',
    ['export function f(): void { return; a(); }', 'export function f(): void { ; }'],
  ],
  ["throw new Error('code', { cause: 0 });", [';']],
  ["logger.warn({ code: 'code' }, 'text');", []],
  ["import { a } from 'code';\ntype B = 'code' | 0;", []],
  [
    'export const q = sql`select from t where a = ${b} and c = ${d} and e is null order by f desc`;',
    [
      'select from t where a = ${b}  and e is null order by f desc',
      'select from t where a = ${b} and c = ${d}  order by f desc',
      'select from t where a = ${b} and c = ${d} and e is null order by f asc',
      'select from t where a = ${b} and c = ${d} and e is not null order by f desc',
    ].map((query) => `export const q = sql\`${query}\`;`),
  ],
])('%s', (source, changes) => {
  expect(mutated(source)).toEqual(changes);
});

test('draws each line once, the same ones for the same seed', () => {
  const source = Array.from({ length: 50 }, (_, line) => `export const c${line} = [${line + 1}, ${line + 1}];`).join(
    '\n',
  );
  const found = findMutations('src/a.ts', source);
  const lines = (seed: string): number[] => drawMutations(found, seed, 20).map(({ line }) => line);
  expect(new Set(lines('x')).size).toBe(20);
  expect(lines('x')).toEqual(lines('x'));
  expect(lines('x')).not.toEqual(lines('y'));
});

const LIMIT = `
  export const LIMIT = 5;
  export function isOver(count: number): boolean { return count > LIMIT; }
  export function unrelated(count: number): number { return count * 2; }`;

const SOURCES = new Map([
  ['src/turn/carry-over.ts', LIMIT],
  [
    'src/turn/workflow-id.ts',
    "import { LIMIT as MOST } from './carry-over.ts';\nexport const TWICE = MOST * 2;\nexport const f = () => TWICE;",
  ],
  ['test/turn/at-most.test.ts', "import { LIMIT } from '../../src/turn/carry-over.ts';"],
]);

test('a constant is reached by the functions that use it, through other constants and files too, and by tests that import it', () => {
  const users = new ModuleUsers(SOURCES).usersOf('src/turn/carry-over.ts', 'LIMIT');
  const texts = [...users.functions].flatMap(([file, functions]) =>
    [...functions].map(({ start, end }) => SOURCES.get(file)?.slice(start, end)),
  );
  expect(texts).toEqual(['function isOver(count: number): boolean { return count > LIMIT; }', '() => TWICE']);
  expect([...users.tests]).toEqual(['test/turn/at-most.test.ts']);
});

test('probes write which of the mutations were reached, and change nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-probes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const source = `
    export function sign(count) {
      if (count > 0) { throw new Error('positive'); }
      return count === 0 ? 'none' : 'negative';
    }`;
  const file = 'src/a.ts';
  const mutations = findMutations(file, source);
  const probes = insertProbes(mutations, new Map([[file, source]]), new ModuleUsers(new Map()), folder);
  const path = join(folder, 'a.mjs');
  writeFileSync(path, probes.sources.get(file) ?? '');
  const { sign } = (await import(pathToFileURL(path).href)) as { sign: (count: number) => string };
  expect([sign(-1), sign(0)]).toEqual(['negative', 'none']);
  const written = readFileSync(join(folder, readdirSync(folder).find((name) => name !== 'a.mjs') ?? ''), 'utf8');
  const reached = new Set(
    written
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0])),
  );
  const missed = mutations
    .filter((_, number) => !reached.has(number))
    .map(({ start, end }) => source.slice(start, end));
  expect(missed).toEqual(["throw new Error('positive');"]);
});
