import type { ModuleUsers } from './module-users.ts';
import type { Mutation, Reached } from './mutations.ts';
import { part } from './syntax-tree.ts';
import type { Node } from './syntax-tree.ts';

/** Names, to the processes that tests start, the test file that runs. */
export const TEST_VARIABLE = 'MUTATE_TEST_FILE';

/** What is written where a mutation would have an effect: its number, and whose test it was. */
export interface Probes {
  /** Sources with probes, by file. */
  readonly sources: ReadonlyMap<string, string>;
  /** Of each mutation, the test files that use the changed value themselves. */
  readonly tests: readonly ReadonlySet<string>[];
}

interface Insertion {
  readonly at: number;
  /** Among insertions at one place: ends first, then statements, then expressions. */
  readonly order: number;
  readonly text: string;
}

const PROBE = 'noteMutationReached';

/** @param folder where the probes write */
export function insertProbes(
  mutations: readonly Mutation[],
  sources: ReadonlyMap<string, string>,
  users: ModuleUsers,
  folder: string,
): Probes {
  const insertions = new Map<string, Insertion[]>();
  const insert = (file: string, number: number, reached: Reached): void => {
    insertions.set(file, [...(insertions.get(file) ?? []), ...insertionsOf(number, reached)]);
  };
  const tests = mutations.map((mutation, number) => {
    if (mutation.declaration === undefined) {
      insert(mutation.file, number, mutation.reached);
      return new Set<string>();
    }
    const found = users.usersOf(mutation.file, mutation.declaration);
    for (const [file, functions] of found.functions) for (const each of functions) insert(file, number, bodyOf(each));
    return found.tests;
  });
  const probed = [...insertions].map(([file, ofFile]): [string, string] => [
    file,
    `${withInsertions(sources.get(file) ?? '', ofFile)}\n${probeFunction(folder)}`,
  ]);
  return { sources: new Map(probed), tests };
}

function bodyOf(node: Node): Reached {
  const { start, end, type } = part(node, 'body');
  return type === 'BlockStatement'
    ? { start: start + 1, end: start + 1, kind: 'body' }
    : { start, end, kind: 'expression' };
}

function insertionsOf(number: number, { start, end, kind }: Reached): Insertion[] {
  const call = `${PROBE}(${number})`;
  if (kind === 'body') return [{ at: start, order: 1, text: `${call};` }];
  const [before, after, order] = kind === 'statement' ? [`{ ${call}; `, ' }', 1] : [`(${call}, `, ')', 2];
  return [
    { at: start, order, text: before },
    { at: end, order: 0, text: after },
  ];
}

function withInsertions(source: string, insertions: readonly Insertion[]): string {
  let text = '';
  let from = 0;
  for (const { at, text: inserted } of insertions.toSorted(
    (one, other) => one.at - other.at || one.order - other.order,
  )) {
    text += source.slice(from, at) + inserted;
    from = at;
  }
  return text + source.slice(from);
}

/** Workflows run in a sandbox without `process`; its `URL` is the one of outside. */
function probeFunction(folder: string): string {
  return `
function ${PROBE}(number) {
  try {
    const host = typeof process === 'undefined' ? URL.constructor('return process')() : process;
    const seen = (host.mutationsReached ??= new Set());
    const line = number + ' ' + (host.env.${TEST_VARIABLE} ?? '') + '\\n';
    if (seen.has(line)) return;
    seen.add(line);
    host.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(`${folder}/`)} + host.pid, line);
  } catch {}
}
`;
}
