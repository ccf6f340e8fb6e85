import { expect, test } from 'vitest';
import { drawMutations } from '../../dev/mutate/draw.ts';
import { findMutations } from '../../dev/mutate/mutations.ts';
import { ImportGraph } from '../../dev/mutate/nearest-tests.ts';

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

test('the test of the same name comes first, then what loads the file by fewer imports; types, whole programs and what starts processes are left out', () => {
  const graph = new ImportGraph(
    new Map([
      ['src/turn/a.ts', 'export const a = 1;'],
      ['src/turn/b.ts', "export { a as b } from './a.ts';"],
      ['test/turn/a.test.ts', "import { b } from '../../src/turn/b.ts';"],
      ['test/turn/far.test.ts', "import { b } from '../../src/turn/b.ts';"],
      ['test/other/near.test.ts', "import { a } from '../../src/turn/a.ts';"],
      ['test/turn/types.test.ts', "import type { A } from '../../src/turn/a.ts';"],
      ['test/soak/soak.test.ts', "import { a } from '../../src/turn/a.ts';"],
      ['test/support/worker-process.ts', ''],
      ['test/turn/killed.test.ts', "import { a } from '../../src/turn/a.ts';\nimport '../support/worker-process.ts';"],
    ]),
  );
  expect(graph.nearestTests('src/turn/a.ts')).toEqual([
    'test/turn/a.test.ts',
    'test/other/near.test.ts',
    'test/turn/far.test.ts',
  ]);
});

test('what the bundle of the workflows is made of is loaded by who loads the bundle', () => {
  const graph = new ImportGraph(
    new Map([
      ['src/workflows/index.ts', "export { agentTurn } from './agent-turn.ts';"],
      ['src/workflows/agent-turn.ts', 'export const agentTurn = 1;'],
      ['src/temporal/workflow-bundle.ts', ''],
      ['test/workflows/tools.test.ts', "import '../../src/temporal/workflow-bundle.ts';"],
    ]),
  );
  expect(graph.nearestTests('src/workflows/agent-turn.ts')).toEqual(['test/workflows/tools.test.ts']);
});
